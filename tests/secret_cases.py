"""Synthetic secrets of every kind. None of them is or was real.

Prefixes are written with a `|` in them, so that scanners do not report this file as a leak.
"""

import base64
import json
import random
import string

_LETTERS = string.ascii_letters + string.digits
_LOWER = string.ascii_lowercase + string.digits
_UPPER = string.ascii_uppercase + "234567"
_HEX = "0123456789abcdef"
_URL = _LETTERS + "_-"


class Case:
    """A text with a secret in it; `before` and `after` are not part of the secret."""

    def __init__(self, secret, before="", after=""):
        self.secret = secret
        self.text = f"{before}{secret}{after}"

    def __repr__(self):
        return f"{self.text[:12]}…"


def cases(seed=1):
    """Return a case of each kind, by name."""
    chance = random.Random(seed)

    def some(length, letters=_LETTERS):
        return "".join(chance.choices(letters, k=length))

    def token(start, *parts):
        """Join a prefix and random parts; a part is text, or a length and an alphabet."""
        made = [part if isinstance(part, str) else some(*part) for part in parts]
        return Case(start.replace("|", "") + "".join(made))

    def value(before, secret, after=""):
        return Case(secret, before.replace("|", ""), after)

    def pair():
        return base64.b64encode(f"{some(6)}:{some(12)}".encode()).decode()

    def jwt():
        parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": some(9), "iat": 1_516_239_022})
        coded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
        return ".".join([*(part.rstrip("=") for part in coded), some(43, _URL)])

    def pem(label):
        body = base64.b64encode(chance.randbytes(300)).decode()
        lines = [body[at : at + 64] for at in range(0, len(body), 64)]
        begin, end = f"-----BEGIN {label}", f"-----END {label}"
        return Case("\n".join([f"{begin} KEY-----", *lines, f"{end} KEY-----"]))

    digits = string.digits
    return {
        "OpenAI": token("s|k-", (48,)),
        "OpenAI of a project": token("s|k-proj-", (74, _URL), "T3Blbk", "FJ", (74, _URL)),
        "OpenAI of a service": token("s|k-svcacct-", (100, _URL)),
        "Anthropic": token("s|k-ant-api03-", (93, _URL), "AA"),
        "OpenRouter": token("s|k-or-v1-", (64, _HEX)),
        "DeepSeek": token("s|k-", (32, _HEX)),
        "Google": token("AI|zaSy", (33, _URL)),
        "Hugging Face": token("h|f_", (34,)),
        "Groq": token("gs|k_", (52,)),
        "xAI": token("xa|i-", (80,)),
        "Perplexity": token("ppl|x-", (48,)),
        "NVIDIA": token("nvap|i-", (64, _URL)),
        "Replicate": token("r|8_", (37,)),
        "Fireworks": token("f|w_", (24,)),
        "Together": token("tgp|_v1_", (43, _URL)),
        "Cerebras": token("cs|k-", (48, _LOWER)),
        "GitHub": token("gh|p_", (36,)),
        "GitHub of an app": token("gh|s_", (36,)),
        "GitHub, fine-grained": token("github|_pat_", (22,), "_", (59,)),
        "GitLab": token("glpa|t-", (20, _URL)),
        "GitLab runner": token("glr|t-", (20, _URL)),
        "Stripe": token("sk|_live_", (24,)),
        "Stripe, restricted": token("rk|_live_", (99,)),
        "Slack bot": token("xox|b-", (12, digits), "-", (12, digits), "-", (24,)),
        "Slack app": token("xap|p-1-A", (10, _UPPER), "-", (13, digits), "-", (64, _HEX)),
        "Slack webhook": token(
            "https://hooks.slack|.com/services/T", (8, _UPPER), "/B", (8, _UPPER), "/", (24,)
        ),
        "Discord webhook": token(
            "https://discord|.com/api/webhooks/", (18, digits), "/", (68, _URL)
        ),
        "AWS": token("AK|IA", (16, _UPPER)),
        "AWS, temporary": token("AS|IA", (16, _UPPER)),
        "AWS secret": value("aws_secret|_access_key = ", some(40, _LETTERS + "/+")),
        "AWS session": token("IQoJb3Jp|Z2luX2Vj", (300, _LETTERS + "+/"), "=="),
        "Google OAuth": token("ya2|9.", (120, _URL)),
        "Google OAuth client": token("GOCS|PX-", (28, _URL)),
        "npm": token("np|m_", (36,)),
        "PyPI": token("pypi|-AgEIcHlwaS5vcmc", (100, _URL)),
        "SendGrid": token("S|G.", (22, _URL), ".", (43, _URL)),
        "Twilio": token("S|K", (32, _HEX)),
        "DigitalOcean": token("dop|_v1_", (64, _HEX)),
        "Databricks": token("dap|i", (32, _HEX)),
        "Telegram": token("", (10, "123456789"), ":A|A".replace("|", ""), (33, _URL)),
        "Shopify": token("shpa|t_", (32, _HEX)),
        "Linear": token("lin|_api_", (40,)),
        "Azure application": token("", (3,), "8Q", "~", (34,)),
        "Mailchimp": token("", (32, _HEX), "-us", "12"),
        "JWT": Case(jwt()),
        "bearer": value("Authorization: Bear|er ", some(40)),
        "basic": value("Authorization: Bas|ic ", pair()),
        "api-key header": value("api-k|ey: ", some(32, _HEX)),
        "x-api-key header": value("'x-api-k|ey': '", some(40), "'"),
        "cookie": value("Cookie: session|id=", some(40), "; theme=dark"),
        "password in a URL": value("https://bob|:", some(14), "@proxy.example.org:8080/v1"),
        "parameter of a URL": value("https://example.org/v1?api|_key=", some(32), "&x=1"),
        "key in a URL": value("https://example.org/v1?x=1&ke|y=", some(39)),
        "variable with a key": value("export MISTRAL_API|_KEY=", some(32)),
        "variable with a password": value("PASS|WORD=", some(5) + "!" + some(5) + "7x"),
        "database URL": value("postgres://eval|:", some(16), "@db.example.org:5432/logs"),
        "MongoDB URL": value("mongodb+srv://eval|:", some(16), "@c0.example.net/x"),
        "Redis URL": value("redis://|:", some(18), "@cache.example.org:6379/0"),
        "JSON api_key": value('{"api|_key": "', some(32), '"}'),
        "JSON password": value('{"pass|word": "', some(10) + "$7" + some(4), '"}'),
        "YAML client secret": value("client|_secret: ", some(36)),
        "connection string": value("Server=x;User Id=sa;Pass|word=", some(8) + "#1" + some(5), ";"),
        "storage key": value("AccountName=x;Account|Key=", some(86, _LETTERS + "+/") + "=="),
        "curl": value("curl -|u admin:", some(14), " https://example.org"),
        "netrc": value("machine example.org login bob pass|word ", some(16)),
        "Mailgun, sending": token("", (32, _HEX), "-", (8, _HEX), "-", (8, _HEX)),
        "Vault, old": token("s|.", (24,)),
        "New Relic license": token("", (36, _HEX), "NR" + "AL"),
        "New Relic insert": token("NR|II-", (32, _URL)),
        "Square sandbox": token("sand|box-sq0idb-", (22, _URL)),
        "Sentry": value(
            "https://", some(32, _HEX), "@o4504.ingest.sen|try.io/4505".replace("|", "")
        ),
        "mysql": value("mysql -u root -|p", some(14), " logs"),
        "XML password": value("<pass|word>", some(10) + "7!", "</password>"),
        "XML setting": value('<add key="Api|Key" value="', some(32), '"/>'),
        "tuple of a header": value("headers = [('Author|ization', 'Bear|er ", some(32), "')]"),
        "tuple of an api key": value('("x-api|-key", "', some(32), '")'),
        "option": value("tool --api|-key ", some(32), " --verbose"),
        "option with a password": value("tool --pass|word ", some(10) + "7!", " run"),
        "fish": value("set -gx SERVICE_API|_KEY ", some(32)),
        "Dockerfile": value("ENV SERVICE_API|_KEY ", some(32)),
        "Dockerfile with =": value("ENV API|_KEY=", some(32)),
        "New Relic browser": token("NR|BR-", (19, _HEX)),
        "Azure OpenAI": token("", (52,), "JQQJ" + "99BCAC", (22,)),
        "Azure storage": token("", (76,), "+A" + "St", (6,), "=="),
        "Zhipu": token("", (32, _HEX), ".", (15,), "7"),
        "E2B": token("e2|b_", (40, _HEX)),
        "Qianfan": token("bce-v3/AL|TAK-", (21,), "/", (40, _HEX)),
        "Weights & Biases": value("wandb lo|gin ", some(40, _HEX)),
        "Firebase": token("AAAA", (7,), ":APA" + "91b", (134, _URL)),
        "URL with a token": value("https://", some(31) + "7", "@gitlab.example.org/a.git"),
        "curl with a cookie": value("curl -|b 'session=", some(32), "' https://example.org"),
        "curl with a key": value("curl https://example.org -|u ", some(31) + "7", ": -d a=1"),
        "curl, joined": value("curl -|ubob:", some(12), " https://example.org"),
        "docker": value("docker login -u bob -|p ", some(10) + "7!", " example.org"),
        "Redis command": value("redis-cli -|a ", some(10) + "7!", " ping"),
        "MongoDB command": value("mongosh -u bob -|p '", some(10) + "7!", "' logs"),
        "arguments of mysql": value('["mysql", "-uroot", "-|p', some(10) + "7!", '", "logs"]'),
        "netrc, any host": value("default login bob pass|word ", some(10) + "7!"),
        "doubled quotes": value('""api|_key"": ""', some(31) + "7", '""'),
        "JSON in CSV in JSON": value('{\\""api|_key\\"": \\""', some(31) + "7", '\\""}'),
        "quotes of HTML": value("&quot;api|_key&quot;: &quot;", some(31) + "7", "&quot;"),
        "quotes of an address": value("%22api|_key%22%3A%22", some(31) + "7", "%22"),
        "bold": value("**API |key:** `", some(31) + "7", "`"),
        "index": value("os.environ['SERVICE_API|_KEY'] = '", some(31) + "7", "'"),
        "typed variable": value('API|_KEY: str = "', some(31) + "7", '"'),
        "default": value("os.getenv('API|_KEY') or '", some(31) + "7", "'"),
        "name and value": value('{"name": "API|_KEY", "value": "', some(31) + "7", '"}'),
        "YAML anchor": value("pass|word: &main ", some(10) + "7!"),
        "kubeconfig": value("client-key-|data: ", some(199) + "7"),
        "property": value('<property name="pass|word" value="', some(10) + "7!", '"/>'),
        "CDATA": value("<pass|word><![CDATA[", some(10) + "7!", "]]></password>"),
        "tuple of bytes": value("(b'x-api|-key', b'", some(31) + "7", "')"),
        "login of a request": value("auth=('bob', '", some(10) + "7!", "')"),
        "call": value("setPass|word('", some(10) + "7!", "')"),
        "SQL": value("CREATE USER bob IDENTIFIED |BY '", some(10) + "7!", "'"),
        "setx": value("setx SERVICE_API|_KEY ", some(31) + "7"),
        "setenv": value("setenv SERVICE_API|_KEY ", some(31) + "7"),
        "RSA key": pem("RSA PRIV" + "ATE"),
        "PKCS 8 key": pem("PRIV" + "ATE"),
        "OpenSSH key": pem("OPENSSH PRIV" + "ATE"),
        "EC key": pem("EC PRIV" + "ATE"),
        "encrypted key": pem("ENCRYPTED PRIV" + "ATE"),
    }


HARMLESS = {
    "UUID": "3bf5f6c4-b9f3-4932-ba70-62ed5d513e61",
    "MD5": '"md5": "d41d8cd98f00b204e9800998ecf8427e"',
    "SHA-256": '{"sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}',
    "git commit": "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
    "ULID": '"batch": "01HZX3J9KQ8V6W2Y4N5T7R1M0P"',
    "content id": '"content_id": "b1946ac92492d2347c6235b4d2611184"',
    "template hash": "template_hash: 5d41402abc4b2a76b9719d911017c592",
    "base64 picture": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQ"
    "VQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==",
    "models": "claude-3-5-sonnet-20241022, gpt-4o-mini-2024-07-18, meta-llama/Llama-3.1-70B",
    "call id": '"id": "call_abcDEF123456ghiJKL789mno"',
    "completion id": "chatcmpl-9QyFb0VBmC1nQ8aX3xvZ2dGkLmNoP",
    "message id": "msg_01XFDUDYJgAACzvnptvVoYEL",
    "placeholder": "export OPENAI_API_KEY=your-api-key-here",
    "placeholder of a token": "sk-your-openai-api-key-here-please",
    "variable": "api_key = os.environ['OPENAI_API_KEY']",
    "call": "token = get_token_from_the_vault_2(1)",
    "template": '"password": "${DB_PASSWORD}", "token": "{{ secrets.TOKEN_1 }}"',
    "type": '"token_type": "bearer", "password": null, "objective_pass": true',
    "words": "risk-management-of-very-long-words, task-specific-token-budget",
    "tokens": '"prompt_tokens": 1234567, "max_tokens": 100000000000000000',
    "date": "session_token: 2026-03-04T10:20:30.123456Z",
    "plain URL": "http://localhost:8080/v1@2, https://example.org/a:b",
    "example URL": "postgres://user:password@localhost/db",
    "bearer of news": "the bearer of very-good-news-about-everything",
    "basic": "Basic understanding of everything",
    "dots": "com.example.Something.Another.Microsoft.Extensions.Logging",
    "own paths": "01HZX3J9KQ8V6W2Y4N5T7R1M0P/results.parquet",
    "short": "sk-lyhyt AIzalea hf_x",
    "mysql": "mysql -u root -p logs < dump.sql; find . -name mysql -print",
    "ports": "docker run --name mysql -p3306:3306 -p127.0.0.1:80:80 mysql:8",
    "variable of mysql": "mysql -u root -p$MYSQL_PWD -p${DB} -p<password> -p'YOUR_PASSWORD' logs",
    "tag": "<password>YOUR_PASSWORD</password> <apiKey>${API_KEY}</apiKey> <token>...</token>",
    "tags of prose": "<password> is a placeholder, <token>hello</token> <key>ab12</key>",
    "setting": '<add key="ApiKey" value="YOUR_KEY"/> <add key="CacheKey" value="user:profile:1"/>',
    "attributes": "s.startswithOrEndsWithAny(x), s.someVeryLongMethodNameOk, its.aVeryLongNameInIt",
    "tuples": "('Authorization', 'Bearer YOUR_KEY'), ('x-api-key', api_key), ('token', 'word')",
    "call of a header": "headers.get('authorization', ''), f('Authorization', f'Bearer {key}')",
    "options": "tool --api-key $KEY --token ... --password $MYSQL_PWD --api-key YOUR_KEY",
    "option in prose": "the option --api-key is required and --password takes the password2",
    "fish": "set -x API_KEY $OTHER_KEY_2; set -e TOKEN; set -gx PATH /usr/local/bin",
    "Dockerfile": "ENV API_KEY YOUR_KEY\nENV PATH /opt/a1/bin:$PATH\nENV TOKEN $TOKEN",
    "cache key": "cache_key: 5d41402abc4b2a76b9719d911017c592",
    "alternatives": "a password or key_2 or 'token' or 'nothing1' || 'secret_of_all'",
    "default in code": "os.getenv('API_KEY') or ''; os.environ['API_KEY'] = os.environ['B_2']",
    "typed": "api_key: str = None, token: str = 'YOUR_TOKEN', password: str | None = None",
    "fields": '{"name": "API_KEY", "value": "${API_KEY}"}, {"name": "key", "value": "0.12345"}',
    "fields of tasks": '{"name": "find_key", "value": "Answer42"}, {"key": "a", "value": "Oslo"}',
    "ports of tools": "docker run -p 8080:80 redis; unzip -p file.zip; mongosh -p; https://a.b -a",
    "default login": "the default login is password protected, and auth('a', 'b')",
    "bold in prose": "**Key:** the main finding, **Password:** required, **Token:** `tokens`",
    "YAML texts": "token: >-\n  a few words of text\npassword: |\n  none",
    "number with a point": "0.1234567890123456, 9fceb02d.example, 12345678.1234567890123456",
    "address": "https://example.org/a-very-long-name-of-a-page@2, https://avatars@example.org",
    "hashes joined": "d41d8cd98f00b204e9800998ecf8427e-1, 9fceb02d-0ae598e9-5dc970b7",
    "commit in a URL": "git+https://github.com/a/b@9fceb02d0ae598e95dc970b74767f19372d61af8",
}
