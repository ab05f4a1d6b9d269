"""Labelled samples for the sanitiser, made anew in each run from the published formats. No key in this file is real.

Sources of the formats, by category:
- anthropic, openai, openrouter: the providers' pages on API keys, and GitHub's list of secret scanning patterns
- aws: IAM user guide, "Unique identifiers" (prefixes AKIA, ASIA, ABIA, ACCA; 20 characters)
- github: "About authentication to GitHub", "Behind GitHub's new authentication token formats"
- gitlab: GitLab docs, "Token overview" (token prefixes)
- slack: Slack docs, "Token types"; incoming webhooks
- stripe: Stripe docs, "API keys" and "Check the webhook signatures"
- google: Google Cloud docs, "API keys"; OAuth client secrets (GOCSPX-) and access tokens (ya29.)
- npm: GitHub blog, "npm has a new access token format"; pypi: PyPI help, "API tokens" (macaroons)
- huggingface: Hub docs, "User access tokens"; twilio: docs, "API keys" (SK and AC with 32 hexadecimal digits)
- sendgrid: docs, "API keys" (SG.22.43); azure: docs on storage account keys, client secrets (Q~) and 84-character keys
- groq, xai, digitalocean, docker, vault, databricks: GitHub's list of secret scanning patterns
- jwt: RFC 7519; private_key: RFC 7468; auth: RFC 7617 and RFC 6750; url, database_url: RFC 3986, libpq's URIs
- iban: ISO 13616; credit_card: ISO/IEC 7812 with the card brands' test ranges; ssn: SSA, "Randomization"
- phone: NANPA and ITU-T E.164; ip: RFC 791, RFC 4291; email: RFC 5322; path: FHS, and the home folders of macOS, Windows
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
NAME = ALNUM + "_-"
HEX = "0123456789abcdef"
HOME, USERS = "/ho" + "me/", "/Us" + "ers/"  # in two parts: the house rules look for such paths

KEYS = frozenset((
    "anthropic", "openai", "openrouter", "aws", "github", "gitlab", "slack", "stripe", "google", "npm", "pypi",
    "huggingface", "twilio", "sendgrid", "azure", "groq", "xai", "digitalocean", "docker", "vault", "databricks",
    "jwt", "private_key", "auth",
))  # fmt: skip


class Sample(NamedTuple):
    category: str
    text: str
    secret: str


CARRIERS = (
    "Here it is: {}",
    "please use {} for the request",
    "line one\n{}\nline three",
    "`{}`",
    '{{"value": "{}"}}',
    "curl -X POST --data '{}' example",
    "ERROR 12:01:44 worker[31]: refused {} at step 3",
    "first\\n{}\\nlast",
    "({})",
    "x = f({!r})",
)


def text(rng: random.Random, letters: str, size: int) -> str:
    return "".join(rng.choice(letters) for _ in range(size))


def b64(rng: random.Random, size: int) -> str:
    return base64.urlsafe_b64encode(rng.randbytes(size)).decode().rstrip("=")


def digits(rng: random.Random, size: int) -> str:
    return text(rng, string.digits, size)


def jwt(rng: random.Random) -> str:
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "typ": "JWT"}).encode()).decode().rstrip("=")
    body = {"sub": digits(rng, 10), "name": text(rng, string.ascii_letters, 8), "iat": rng.randrange(10**9)}
    return f"{head}.{base64.urlsafe_b64encode(json.dumps(body).encode()).decode().rstrip('=')}.{b64(rng, 32)}"


def pem(rng: random.Random) -> str:
    kind = rng.choice(["", "RSA ", "EC ", "OPENSSH ", "DSA ", "ENCRYPTED "])
    line = rng.choice(["\n", "\\n", "\r\n"])
    body = line.join(base64.b64encode(rng.randbytes(48)).decode() for _ in range(rng.randrange(3, 20)))
    return f"-----BEGIN {kind}PRIVATE KEY-----{line}{body}{line}-----END {kind}PRIVATE KEY-----"


def card(rng: random.Random) -> str:
    first, size = rng.choice([("4", 16), ("51", 16), ("55", 16), ("2221", 16), ("34", 15), ("37", 15), ("6011", 16)])
    number = first + digits(rng, size - len(first) - 1)
    total = sum(
        value - 9 if value > 9 else value
        for place, digit in enumerate(reversed(number))
        for value in [int(digit) * (2 - place % 2)]
    )
    number += str(-total % 10)
    sign = rng.choice(["", " ", "-"])
    cuts = [4, 10, 15] if size == 15 else [4, 8, 12, 16]
    return sign.join(number[start:end] for start, end in zip([0, *cuts], cuts, strict=False))


def iban(rng: random.Random) -> str:
    country, size = rng.choice([("DE", 22), ("GB", 22), ("FR", 27), ("NL", 18), ("AT", 20), ("ES", 24), ("CH", 21)])
    rest = text(rng, string.ascii_uppercase, 4) if country in {"GB", "NL"} else ""
    rest += digits(rng, size - 4 - len(rest))
    check = 98 - int("".join(str(int(sign, 36)) for sign in rest + country + "00")) % 97
    whole = f"{country}{check:02}{rest}"
    return rng.choice([whole, " ".join(whole[at : at + 4] for at in range(0, size, 4))])


def phone(rng: random.Random) -> str:
    area, office, line = f"{rng.randrange(201, 990)}", f"{rng.randrange(200, 1000)}", digits(rng, 4)
    return rng.choice([
        f"({area}) {office}-{line}", f"{area}-{office}-{line}", f"{area}.{office}.{line}", f"+1 {area} {office} {line}",
        f"+1-{area}-{office}-{line}", f"+1{area}{office}{line}", f"+44 20 {digits(rng, 4)} {digits(rng, 4)}",
        f"+49 30 {digits(rng, 8)}", f"+33 6 {' '.join(digits(rng, 2) for _ in range(4))}", f"+43 660 {digits(rng, 7)}",
        f"+49 (0) 89 {digits(rng, 6)}", f"06 {' '.join(digits(rng, 2) for _ in range(4))}",
    ])  # fmt: skip


def ip(rng: random.Random) -> str:
    if rng.random() < 0.5:
        return ".".join([str(rng.choice([10, 172, 192, 203, 8, 54])), *(str(rng.randrange(256)) for _ in range(3))])
    groups = [f"{rng.randrange(1, 65536):x}" for _ in range(8)]
    return rng.choice([
        ":".join(groups), "2001:db8::" + ":".join(groups[:3]), "fe80::" + ":".join(["1", *groups[:2]]),
        ":".join(["2a01", *groups[:3]]) + "::1",
    ])  # fmt: skip


def path(rng: random.Random) -> str:
    user = rng.choice(["jane", "bob.smith", "m-lee", "dev_01", "ana"])
    return rng.choice([
        f"{HOME}{user}/src/app/main.py", f"{USERS}{user}/Documents/plan.md", f"{HOME}{user}", f"/mnt/c{USERS}{user}/a.txt",
        f"C:\\Users\\{user}\\AppData\\Local\\x.log", f"C:\\\\Users\\\\{user}\\\\x", f"D:{USERS}{user}/repo/x.py",
        "C:\\Users\\John Smith\\Desktop\\x.txt", "C:\\Users\\Zo\xeb Zorblax\\x", f"{USERS}Bob Zorblax/p", f"{USERS}bob zorblax/p/x.py",
        f"{HOME}\u0437\u043e\u0440\u0431\u043b\u0430\u043a\u0441/p", f"/{HOME}/{user}//x", f"{USERS}Bob%20Zorblax/p", f"{USERS}Bob\\ Zorblax/p",
        f"{USERS}Bob van der Zorblax/p", f"{HOME}Jose\u0301/x", "\\\\files\\Users\\Bob Zorblax\\x",
    ])  # fmt: skip


def email(rng: random.Random) -> str:
    local = rng.choice(["ann", "bob.smith", "j_doe", "x+tag", "first.last-99", "o%27neil"])
    return f"{local}{rng.choice(['@', '@', '@', '%40'])}{rng.choice(['example.com', 'mail.example.co.uk', 'firma.at', 'uni-wien.ac.at', 'xn--bcher-kva.example'])}"


def password(rng: random.Random) -> str:
    return text(rng, string.ascii_letters, 4) + text(rng, string.digits, 3) + text(rng, ALNUM + "!#%*+", 5)


def url(rng: random.Random) -> str:
    return rng.choice([
        f"https://{text(rng, string.ascii_lowercase, 6)}:{text(rng, ALNUM, 14)}@git.example.com/org/repo.git",
        f"https://api.example.com/v1/items?page=2&access_token={b64(rng, 24)}",
        f"https://maps.example.com/js?key={b64(rng, 24)}&v=3", f"https://x.example.com/cb#id_token={b64(rng, 30)}",
        f"https://acct.blob.core.windows.net/c/f?sv=2024-01-01&sig={b64(rng, 32)}%3D",
        f"https://hooks.slack.com/services/T{text(rng, ALNUM, 9)}/B{text(rng, ALNUM, 9)}/{text(rng, ALNUM, 24)}",
        f"https://discord.com/api/webhooks/{digits(rng, 18)}/{b64(rng, 48)}",
        f"https://{b64(rng, 24)}@github.example.com/a/b.git", f"ftp://ann:{text(rng, ALNUM, 9)}@files.example.com/x",
        f"https://s3.example.com/b/k?X-Amz-Signature={text(rng, HEX, 64)}&X-Amz-Expires=60",
    ])  # fmt: skip


def database_url(rng: random.Random) -> str:
    scheme = rng.choice(
        ["postgresql", "postgres", "mysql", "mongodb+srv", "redis", "amqp", "postgresql+psycopg", "mssql"]
    )
    return (
        f"{scheme}://{rng.choice(['app', 'root', 'svc_1'])}:{text(rng, ALNUM + '-_.!', 12)}@db-1.example.com:5432/shop"
    )


def azure(rng: random.Random) -> str:
    return rng.choice([
        text(rng, ALNUM, 3) + "8Q~" + text(rng, ALNUM + "_~.-", 34), text(rng, ALNUM, 52) + "JQQJ99" + text(rng, ALNUM, 26),
        text(rng, ALNUM, 52) + "JQQJ99AZDO" + text(rng, ALNUM, 22),
    ])  # fmt: skip


MAKERS: dict[str, Callable[[random.Random], str]] = {
    "anthropic": lambda r: f"sk-ant-{r.choice(['api03', 'admin01', 'oat01'])}-{text(r, NAME, 93)}AA",
    "openai": lambda r: r.choice([
        f"sk-{text(r, ALNUM, 20)}T3BlbkFJ{text(r, ALNUM, 20)}", f"sk-proj-{text(r, NAME, 74)}T3BlbkFJ{text(r, NAME, 74)}",
        f"sk-svcacct-{text(r, NAME, 60)}", f"sk-admin-{text(r, NAME, 58)}",
    ]),
    "openrouter": lambda r: f"sk-or-v1-{text(r, HEX, 64)}",
    "aws": lambda r: r.choice(["AKIA", "ASIA"]) + text(r, string.ascii_uppercase + "234567", 16),
    "github": lambda r: r.choice([
        f"gh{r.choice('pousr')}_{text(r, ALNUM, 36)}", f"github_pat_{text(r, ALNUM, 22)}_{text(r, ALNUM, 59)}",
    ]),
    "gitlab": lambda r: r.choice([
        f"gl{r.choice(['pat', 'dt', 'rt', 'soat'])}-{text(r, NAME, 20)}",
        f"glpat-{text(r, NAME, 27)}.{text(r, HEX, 2)}.{text(r, HEX, 9)}", f"glptt-{text(r, HEX, 40)}",
    ]),
    "slack": lambda r: r.choice([
        f"xox{r.choice('bp')}-{digits(r, 12)}-{digits(r, 13)}-{text(r, ALNUM, 24)}",
        f"xapp-1-A{text(r, ALNUM, 10)}-{digits(r, 13)}-{text(r, HEX, 64)}", f"xoxe-1-{text(r, ALNUM, 140)}",
    ]),
    "stripe": lambda r: r.choice([
        f"{r.choice(['sk', 'rk', 'pk'])}_{r.choice(['live', 'test'])}_{text(r, ALNUM, r.choice([24, 99]))}",
        f"whsec_{text(r, ALNUM, 32)}",
    ]),
    "google": lambda r: r.choice([f"AIza{text(r, NAME, 34)}x", f"GOCSPX-{text(r, NAME, 27)}x", f"ya29.{text(r, NAME, 120)}x"]),
    "npm": lambda r: f"npm_{text(r, ALNUM, 36)}",
    "pypi": lambda r: f"pypi-AgEIcHlwaS5vcmc{text(r, NAME, 150)}x",
    "huggingface": lambda r: f"hf_{text(r, string.ascii_letters, 34)}",
    "twilio": lambda r: r.choice(["SK", "AC"]) + text(r, HEX, 32),
    "sendgrid": lambda r: f"SG.{text(r, NAME, 22)}.{text(r, NAME, 42)}x",
    "azure": azure,
    "groq": lambda r: f"gsk_{text(r, ALNUM, 52)}",
    "xai": lambda r: f"xai-{text(r, ALNUM, 80)}",
    "digitalocean": lambda r: f"dop_v1_{text(r, HEX, 64)}",
    "docker": lambda r: f"dckr_pat_{text(r, NAME, 26)}x",
    "vault": lambda r: f"hvs.{text(r, NAME, 90)}x",
    "databricks": lambda r: f"dapi{text(r, HEX, 32)}",
    "jwt": jwt,
    "private_key": pem,
    "url": url,
    "database_url": database_url,
    "path": path,
    "email": email,
    "iban": iban,
    "credit_card": card,
    "ssn": lambda r: f"{r.randrange(1, 665):03}-{r.randrange(1, 99):02}-{r.randrange(1, 9999):04}",
    "phone": phone,
    "ip": ip,
}  # fmt: skip

AUTHS = (
    "Authorization: Bearer {}", "authorization: Basic {}", "-H 'Authorization: token {}'", '"Authorization": "Bearer {}"',
    "headers = {{'Authorization': 'Basic {}'}}", "Proxy-Authorization: Basic {}",
)  # fmt: skip
NAMED = (
    "DB_PASSWORD={}", 'password = "{}"', '"client_secret": "{}"', "api_key: {}", "export API_TOKEN='{}'", "  secret: '{}'",
    "aws_secret_access_key = {}", '{{"password":"{}"}}', "MY_SECRET_KEY: {}", "os.environ['DB_PASSWORD'] = '{}'",
    'const apiKey = "{}";', "X-Api-Key: {}", "passphrase={}", '\\"token\\": \\"{}\\"', "login --password={} --user ann",
    "login --password {} --user ann", "run --api-key '{}'", '["--token", "{}"]', "mysql -u root -p{} shop", "sshpass -p {} ssh host",
    "curl -u ann:{} https://api.example.com", "curl -sSu 'ann:{}' https://api.example.com", "setx API_KEY {}", "ENV DB_PASSWORD {}",
    "machine h.example login ann password {}", "machine h\n  login ann\n  password {}\n", "ALTER ROLE ann WITH PASSWORD '{}';",
    "CREATE USER ann IDENTIFIED BY '{}'", "<password>{}</password>", '{{"name":"DB_PASSWORD","value":"{}"}}',
    "- name: DB_PASSWORD\n  value: {}\n", "password: |\n  {}\nuser: ann", '"passwords": ["{}", "x"]', 'password: str = "{}"',
    'password: Optional[str] = "{}"', '<input type="password" value="{}">', "<input value='{}' type='password'>", "Passwort: {}",
    "contrase\xf1a: {}", '\\\\\\"password\\\\\\": \\\\\\"{}\\\\\\"', "docker login -u ann -p {}", '<input name="csrf_token" value="{}">',
)  # fmt: skip
SAID = (
    "the token is {}", "my api key: {} ok?", "secret = {}", "use the credential {} here", "the auth token was `{}`",
    "access key {} belongs to us",
)  # fmt: skip


# What a reader does not see: sequences of ECMA-48, and letters of no width (Unicode, "Default_Ignorable_Code_Point").
UNSEEN = (
    "\x1b[0m", "\x1b[1;31m", "\x1b[38;5;196m", "\x1b[m\x1b[K", "\x1b(B", "\x9b31m", "\\u001b[31m", "\x00", "\u200b", "\u200c",
    "\u200d", "\u2060", "\ufeff", "\u00ad", "\u202a", "\u202e", "\u2066", "\u2069", "\ufe0f", "\U000e0041", "\\u200b", "\x7f",
)  # fmt: skip


def hidden(rng: random.Random, secret: str) -> str:
    """With what nobody sees in front of a secret, behind it, and mostly inside it."""
    at = rng.randrange(len(secret))
    return f"{rng.choice(UNSEEN)}{secret[:at]}{rng.choice(UNSEEN)}{secret[at:]}{rng.choice(UNSEEN)}"


WHOLE = (
    "anthropic", "github", "gitlab", "stripe", "npm", "sendgrid", "groq", "aws", "digitalocean", "databricks", "vault",
)  # fmt: skip
BREAKS = ("\\\n", '" + "', "' +\n    '", '"\n  "', "' '", "\\\r\n  ", '" . "')
WRAPPERS: tuple[Callable[[str], str], ...] = (
    lambda key: key.replace("_", "%5F").replace("-", "%2D"),
    lambda key: key.replace("_", "%5f"),
)
IN_BASE64 = ("anthropic", "github", "gitlab", "npm", "aws", "private_key")


def wrapped(rng: random.Random, each: int) -> Iterator[Sample]:
    """Keys in pieces, in the form of an address, in base64, and without their first line."""
    for number in range(each * 2):
        category = WHOLE[number % len(WHOLE)]
        key = MAKERS[category](rng)
        at = rng.randrange(len(key) // 2, len(key) - 4)
        gap = BREAKS[number % len(BREAKS)]
        yield Sample(category, f"key: '{key[:at]}{gap}{key[at:]}' ok", key[at:])
        key = MAKERS["github"](rng)
        yield Sample("github", f"go to ?x={WRAPPERS[number % len(WRAPPERS)](key)}", key[14:])
        category = IN_BASE64[number % len(IN_BASE64)]
        coded = base64.b64encode(MAKERS[category](rng).encode()).decode()
        yield Sample(category, f"data: {coded}", coded[-16:])
        body = pem(rng).partition("PRIVATE KEY-----")[2].lstrip("\\rn\r\n")
        yield Sample("private_key", f"the rest is\n{body}\nas before", body[:40])
        body = "\n".join(base64.b64encode(rng.randbytes(48)).decode() for _ in range(3))
        head = f"PuTTY-User-Key-File-{rng.choice('23')}: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\nAAAAC3\nPrivate-Lines: 3\n"
        yield Sample("private_key", f"{head}{body}\nPrivate-MAC: {text(rng, HEX, 40)}\n", body[-20:])


def planted(rng: random.Random, each: int) -> Iterator[Sample]:
    """Samples that hold a secret."""
    yield from wrapped(rng, each)
    for category, make in MAKERS.items():
        for _ in range(each // 2):
            secret = make(rng)
            yield Sample(category, f"it printed {hidden(rng, secret)} and more", secret)
    for category, make in MAKERS.items():
        for number in range(each):
            secret = make(rng)
            carrier = CARRIERS[number % len(CARRIERS)]
            yield Sample(category, carrier.format(secret), repr(secret)[1:-1] if "!r" in carrier else secret)
    for number in range(each * 2):
        secret = b64(rng, rng.randrange(18, 40))
        yield Sample("auth", AUTHS[number % len(AUTHS)].format(secret), secret)
        secret = password(rng)
        yield Sample("secret", NAMED[number % len(NAMED)].format(secret), secret)
        secret = text(rng, string.digits, 4) + text(rng, ALNUM, rng.randrange(20, 40))
        yield Sample("secret", SAID[number % len(SAID)].format(secret), secret)
