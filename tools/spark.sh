#!/bin/sh
# Install Spark in a folder where that is possible: sh tools/spark.sh PYTHON FOLDER
# Without it the tests that need it are skipped, so this never fails.
python=$1
folder=$2
reason() {
    echo "skipped: $1"
    rm -f "$folder/.ready"
    exit 0
}
major=$(java -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p')
[ "${major:-0}" -ge 17 ] && [ "$major" -le 21 ] || reason "a Spark cluster needs Java 17 to 21"
[ -e "$folder/.ready" ] && [ "$folder/.ready" -nt tests/spark.txt ] && exit 0
echo "==> installing Spark in $folder (450 MB, a minute or two, once)"
"$python" -m venv --clear --without-pip "$folder" || reason "no environment can be created"
"$python" -m pip --python "$folder" install --quiet --retries 2 --no-deps -r tests/spark.txt \
    >"$folder/pip.log" 2>&1 || reason "Spark cannot be installed here: $(grep '^ERROR' "$folder/pip.log" | tail -n 1)"
# What else is needed comes from the environment of the tests.
"$folder/bin/python" -c 'import pathlib, sys, sysconfig
site = next(pathlib.Path(sys.argv[1]).glob(".venv/lib/python*/site-packages"))
rest = pathlib.Path(sysconfig.get_path("purelib"), "rest.pth")
rest.write_text(f"import site; site.addsitedir({str(site)!r})\n")' "$PWD" || exit 1
"$folder/bin/python" -c 'import pyspark.sql.connect.session' >>"$folder/pip.log" 2>&1 ||
    reason "Spark cannot be imported in this Python: $(tail -n 1 "$folder/pip.log")"
touch "$folder/.ready"
