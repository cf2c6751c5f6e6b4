-- Places where imported files break a rule of their specification.
-- severity: warning
-- grain: file × field × rule
-- inherits: lake.violations
SELECT
    path,
    line,
    field,
    rule,
    message,
    suite,
    run_id,
    sha256
FROM lake.violations
ORDER BY path, line, field, rule
