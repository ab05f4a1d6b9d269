"""Texts that look private and are not: each must come through the sanitiser as it is."""

from __future__ import annotations

import random
import string
from collections.abc import Iterator
from uuid import UUID

from tests.pipelines.capture.samples import ALNUM, HEX, HOME, USERS, digits, text

FIXED = (
    "upgrade to v1.2.3 and then 2.10.0-rc.1",
    "Python 3.11.9, node v20.20.2, chrome version 131.0.6778.86",
    "requires package==1.2.3.4 or newer",
    "/usr/local/bin/python and /etc/hosts and /var/log/syslog",
    f"see src{HOME}index.html and .{HOME}page",
    f"https://example.com{HOME}page and https://example.com{USERS}list",
    "token: string; password: str; secret: Optional[str] = None",
    "function login(user: string, password: string): Promise<string>",
    "max_tokens=4096, token_count: 512, tokens_used = 93",
    "password = os.environ['DB_PASSWORD']",
    'api_key = os.getenv("OPENAI_API_KEY")',
    "const token = process.env.API_TOKEN;",
    "secret = request.headers.get('X-Secret')",
    'password: "${DB_PASSWORD}"',
    "password: {{ vault_password }}",
    "password = getpass.getpass()",
    "the secretary wrote to the author about passwordless login",
    "a tokenizer splits text into tokens: words, numbers and signs",
    "Bearer authentication is described in RFC 6750, basic authentication in RFC 7617",
    "Basic internationalization support",
    "std::vector<int> and crate::module::name and a::b::c",
    "it ran at 12:34:56 on 2024-01-16T12:00:00.000Z",
    "MAC address aa:bb:cc:dd:ee:ff",
    "listening on 127.0.0.1:8080 and 0.0.0.0 and ::1",
    "netmask 255.255.255.0",
    "git clone git@github.com:org/repo.git",
    "npm install @types/node@20.1.0 react@18.2.0",
    "icon@2x.png and logo@3x.jpg",
    "user@example has no top-level domain",
    "@app.job and @pytest.fixture and @dataclass",
    "task-force-on-something-rather-long-indeed and risk-assessment-of-the-whole-thing",
    "sk-learn is a library; sk-something",
    "ghp_short and npm_config_registry and hf_hub_download and hf_transfer",
    "AKIA is a prefix; AIza too",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUQ\n-----END CERTIFICATE-----",
    "ssh-ed25519 is a kind of key",
    "redis://localhost:6379/0 and postgresql://localhost/app",
    "https://example.com/search?q=token&page=2&sort=asc",
    "https://docs.example.com/guide#authentication",
    "https://user@example.com/path",
    "postgresql://$USER:$PASSWORD@localhost/app",
    "4532-1234-5678-9010 fails the check of its last digit",
    "order 1234567890123456 and timestamp 1700000000000000000",
    "000-12-3456 and 666-12-3456 and 123-00-4567 are no numbers of persons",
    "2024-01-16 and 16-01-2024 and 1-2-3",
    "part number 12-34-5678 and 5551234",
    "lines 100-200, 3000 rows, 1,234,567 bytes",
    "+1 for this; x+12345 = y; +00:00",
    "eyJ is how JSON in base64 begins",
    "DE is a country; GB2312 is a character set; FR00 is nothing",
    "the key is to test early; the token is invalid; the password was changed",
    "C:\\Windows\\System32\\drivers and C:\\Program Files\\x",
    "C:\\Users\\Public\\Documents",
    "0x1F 0b1010 1e-9 3.14159",
    "color #ff00aa; sha256 of the file",
    "password must have 12 characters or more",
    "set a secret with `gh secret set NAME`",
    "credentials: include",
    "cookie: accepted",
    "csrf_token_name = 'field'",
    "pwd && ls -la",
    "secret_manager = SecretManager(project)",
    "token_type: bearer, token_url: /oauth/token",
    "assert token == expected_token",
    "if password != confirm: raise ValueError",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer <token>",
    "the --password flag is required",
    "pass --token to the CLI",
    "add --secret env:BILLING_SECRET and --password file:/run/x1",
    "use --max-tokens 200000 here",
    "docker run -u 1000:1000 -p 8080:80 mysql",
    "mkdir -p /srv/x; mysql -p db",
    'curl -u "$USER:$PASS" x',
    "curl -u bob http://x",
    "Unexpected token 'else' in line 3",
    "<token>else</token>",
    "List<Token> tokens1 = x",
    "tokens: ['the', 'cat', 'sat']",
    "required_secrets: ['API_KEY', 'DB_URL']",
    'def f(token: str, mode="read1")',
    "password: str = Field(...)",
    'token_type: str = "bearer"',
    'password: string = ""',
    '<input type="password" placeholder="at least 8">',
    '<input type="password" value="{{ pw }}">',
    "- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: x1",
    "- name: DB_PASSWORD\n  value: ${DB_PASSWORD}",
    "password: |\n  {{ vault }}\n",
    "ENV TOKEN_TTL 3600",
    "Passwort vergessen? Passwort: vergessen",
    "the login page of the machine room: password must be set",
    "run with --password-file /run/x1",
    "--secret-name my-secret-1",
    "the password 'must be set' first",
    "--token <token> and --password $PASSWORD and --api-key {key}",
    "`--token` is read from stdin",
    "--password-stdin < file1",
    "max_tokens=200000, input_tokens: 1234567",
    "name: token, value: 5",
    "an index is identified by its name",
    "-----END PRIVATE KEY-----",
    "it ends with\n-----END RSA PRIVATE KEY-----",
    "printf('%5f %2d-%2e', x)",
    "ghp_short\nand more lines1\nof text",
    "task-\nforce1 and sk-\nlearn2",
    "Z2hvc3QgaW4gdGhlIHNoZWxsIGFuZCBtb3JlIG9mIGl0 c2tldGNoIG9mIGEgcGxhbiBmb3IgdGhlIHllYXI=",
    "npm_config\nregistry_1",
    "PuTTY-User-Key-File is a format; Private-Lines: is a field",
    "glpat-\nsome-thing-2024-long-name-x",
    "'sk-' + 'learn'",
    "hf_hub\ndownload_2024_of_many_things",
    "certificate: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1J" + "SUJN" * 40,
    f"{HOME}$USER/x and {HOME}<user>/x and {USERS}{{name}}/x and {HOME}%s/x and {HOME}\u2026 and {HOME}*",
    f"{USERS}Shared/x is for all",
    "App\\\\Models\\\\Users\\\\Admin and src\\Users\\list.cs",
    "family \U0001f468\u200d\U0001f469\u200d\U0001f467, heart \u2764\ufe0f, \u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
    "printf '\\033[31mred\\033[0m' and \\x1b[0m and \\e[1m",
)


def lookalikes(rng: random.Random, each: int) -> Iterator[str]:
    """The fixed ones, and as many made ones of each kind."""
    yield from FIXED
    for _ in range(each):
        yield f"commit {text(rng, HEX, 40)} and {text(rng, HEX, 7)}"
        yield f"id {UUID(int=rng.getrandbits(128), version=4)} was not found"
        yield f"version {rng.randrange(20)}.{rng.randrange(20)}.{rng.randrange(99)}"
        yield f"release {rng.randrange(20)}.{rng.randrange(20)}.{rng.randrange(99)}.{rng.randrange(9999)}"
        yield f"/usr/lib/{text(rng, string.ascii_lowercase, 8)}/{text(rng, string.ascii_lowercase, 5)}.so"
        yield f"at {rng.randrange(24):02}:{rng.randrange(60):02}:{rng.randrange(60):02} it took {rng.randrange(9999)} ms"
        yield f"digest sha256:{text(rng, HEX, 64)}"
        yield f"timestamp {rng.randrange(1_600_000_000, 1_800_000_000)} or {rng.randrange(16 * 10**11, 18 * 10**11)}"
        yield f"def {text(rng, string.ascii_lowercase, 9)}_{text(rng, string.ascii_lowercase, 9)}(self, value: int):"
        yield f"integrity sha512-{text(rng, ALNUM, 80)}=="
        yield f"order {digits(rng, 6)} of {digits(rng, 4)} items"
        yield f"https://example.com/{text(rng, string.ascii_lowercase, 8)}?page={rng.randrange(99)}"
