"""What is taken out of a text, rule by rule. Pure, and on the hook's cold path.

Every pattern runs in linear time. Repetitions are bounded or possessive, and a run of characters is entered at its
beginning only, so no text is looked at again and again. A rule is compiled when one of its needles is in the text.
"""

from __future__ import annotations

from holdfast_pipelines.capture.swift import compiled

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable

_ASCII_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DIGITS = "0123456789"


def at_start(first: str, signs: str) -> str:
    """A pattern for a beginning: this first sign, none of these signs in front, or a line break written as in JSON.

    The first sign comes first, so that the engine can leap from one to the next.
    """
    return f"{first}(?:(?<![{signs}]{first})|(?<=\\\\[nrt]{first}))"


class Rule:
    """A pattern, the category it finds, and what else must hold.

    `needles`: one of them is in the text, or the pattern is not even compiled. `low`: it is looked for in lower case.
    `group`: the part that is taken out. `left`: characters in front of a match that belong to it, at most `reach`.
    `check`: the last word, given the text and the span. `prefix`: how a key begins that may be broken into pieces.
    """

    __slots__ = ("category", "check", "group", "left", "low", "name", "needles", "pattern", "prefix", "reach")

    def __init__(
        self,
        name: str,
        category: str,
        needles: tuple[str, ...],
        pattern: str,
        *,
        low: bool = False,
        group: int = 0,
        left: str = "",
        reach: int = 0,
        check: Callable[[str, int, int], bool | str] | None = None,
        prefix: str = "",
    ) -> None:
        self.name = name
        self.category = category
        self.needles = needles
        self.pattern = pattern
        self.low = low
        self.group = group
        self.left = frozenset(left)
        self.reach = reach
        self.check = check
        self.prefix = prefix

    def wanted(self, text: str, low: str) -> bool:
        """Whether there is any use in looking closer."""
        where = low if self.low else text
        for needle in self.needles:  # asked hundreds of times for one event, and quicker than a generator
            if needle in where:
                return True
        return not self.needles

    def compiled(self) -> re.Pattern[str]:
        """The pattern, made when it is first needed."""
        return compiled(self.pattern)


def _key(name: str, prefix: str, body: str, *needles: str) -> Rule:
    """A provider's key: its prefix at the beginning of a word, or after a line break written as in JSON.

    The prefix itself is the needle, unless others are given: one look for several prefixes.
    """
    start = at_start(prefix, "A-Za-z0-9_")
    return Rule(name, f"{name.upper()}_KEY", needles or (prefix.replace("\\", ""),), f"{start}(?:{body})", prefix=start)


_WORD = "[A-Za-z0-9]"
_NAME = "[A-Za-z0-9_-]"

# In the order of the providers' own pages; docs/guides/capture.md names them.
PROVIDERS = (
    _key("anthropic", "sk-ant-", f"{_NAME}{{20,300}}+"),
    _key("openai", "sk-", f"(?:proj|svcacct|admin|None)-{_NAME}{{20,300}}+|{_WORD}{{32,64}}+(?!{_NAME})"),
    _key("openrouter", "sk-or-v1-", "[0-9a-f]{32,80}+"),
    _key("aws", "A[KSB]IA", f"[A-Z0-9]{{16}}(?!{_WORD})", "AKIA", "ASIA", "ABIA"),
    _key("aws", "ACCA", f"[A-Z0-9]{{16}}(?!{_WORD})"),
    *(_key("github", f"gh{kind}_", f"{_WORD}{{36,255}}+") for kind in "pousr"),
    _key("github", "github_pat_", "[A-Za-z0-9_]{40,255}+"),
    *(
        _key("gitlab", f"gl{kind}-", f"{_NAME}{{20,300}}+(?:\\.{_NAME}{{2,20}}+){{0,3}}")
        for kind in ("pat", "ptt", "dt", "rt", "cbt", "soat", "ft", "imt", "agent", "oas")
    ),
    _key("slack", "xox[abeoprs]-", f"(?=[A-Za-z-]{{0,40}}\\d){_NAME}{{10,300}}+", "xox"),
    _key("slack", "xapp-", f"\\d-{_NAME}{{20,300}}+"),
    _key("stripe", "[srp]k_(?:live|test)_", f"{_WORD}{{16,255}}+", "k_live_", "k_test_"),
    _key("stripe", "whsec_", "[A-Za-z0-9+/]{24,100}+={0,2}"),
    _key("google", "AIza", f"{_NAME}{{35}}(?!{_NAME})"),
    _key("google", "ya29\\.", f"{_NAME}{{20,2000}}+(?:\\.{_NAME}{{1,2000}}+)?"),
    _key("google", "GOCSPX-", f"{_NAME}{{28}}"),
    _key("npm", "npm_", f"{_WORD}{{36}}(?!{_WORD})"),
    _key("pypi", "pypi-Ag", f"{_NAME}{{50,1000}}+"),
    _key("huggingface", "hf_", f"{_WORD}{{30,60}}+(?!{_WORD})"),
    _key("huggingface", "api_org_", f"{_WORD}{{30,60}}+(?!{_WORD})"),
    _key("twilio", "SK", f"[0-9a-f]{{32}}(?!{_WORD})"),
    _key("twilio", "AC", f"[0-9a-f]{{32}}(?!{_WORD})"),
    _key("sendgrid", "SG\\.", f"{_NAME}{{22}}\\.{_NAME}{{43}}(?!{_NAME})"),
    Rule("azure", "AZURE_KEY", ("AccountKey=", "SharedAccessKey="), "Key=([A-Za-z0-9+/]{40,88}+={0,2})", group=1),
    Rule("azure", "AZURE_KEY", ("Q~",), "Q~[A-Za-z0-9_~.-]{31,34}+", left=_ASCII_LETTERS + _DIGITS + "_~.", reach=4,
         check=lambda text, start, _: text[start + 3 : start + 6].endswith("Q~") and text[start + 3].isdigit()),
    Rule("azure", "AZURE_KEY", ("JQQJ99", "AZDO"), f"(?:JQQJ99|AZDO){_WORD}{{4,60}}+(?!{_WORD})",
         left=_ASCII_LETTERS + _DIGITS, reach=80, check=lambda _, start, end: end - start >= 76),  # noqa: PLR2004
    _key("groq", "gsk_", f"{_WORD}{{40,80}}+"),
    _key("xai", "xai-", f"{_WORD}{{40,120}}+"),
    _key("digitalocean", "dop_v1_", "[0-9a-f]{64}"),
    _key("docker", "dckr_pat_", f"{_NAME}{{20,60}}+"),
    _key("vault", "hvs\\.", f"{_NAME}{{24,200}}+"),
    _key("databricks", "dapi", "[0-9a-f]{32}(?:-\\d)?"),
)  # fmt: skip

JWT = Rule(
    "jwt",
    "JWT",
    ("eyJ",),
    f"eyJ(?:(?<!{_NAME}eyJ)|(?<=\\\\[nrt]eyJ)){_NAME}{{8,}}+\\.(?:eyJ)?{_NAME}{{8,}}+(?:\\.{_NAME}*+){{0,3}}",
)

_IN_URL = r"[^\s\"'<>`\\{}|^]"
_DATABASES = (
    "postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "rediss", "amqp", "amqps", "mssql", "oracle",
    "sqlserver", "clickhouse", "cockroachdb", "snowflake", "cassandra", "neo4j", "bolt", "nats", "db",
)  # fmt: skip
_LONE_TOKEN = 16  # a user's name without a password is shorter


def _has_credentials(text: str, start: int, end: int) -> bool | str:
    scheme, _, rest = text[start:end].partition("://")
    authority = rest.partition("/")[0].partition("?")[0].partition("#")[0]
    user, colon, password = authority.rpartition("@")[0].partition(":")
    if not scheme or password[:1] in {"$", "%", "*"} or (colon and not password):
        return False
    if not colon and (len(user) < _LONE_TOKEN or user.startswith("[REDACTED")):
        return False
    kind = scheme.lower().partition("+")[0].removeprefix("jdbc:")
    return "DATABASE_URL" if kind in _DATABASES else "URL"


URL_CREDENTIALS = Rule(
    "url_credentials",
    "URL",
    ("@",),
    rf"://[^\s/?#\"'<>`\\{{}}|^@]{{1,256}}+@(?:[^\s/?#\"'<>`\\{{}}|^@]{{0,256}}+@)?{_IN_URL}{{1,2048}}+",
    left=_ASCII_LETTERS + _DIGITS + "+.-",
    reach=20,
    check=_has_credentials,
)

_HEADER = r"[\"']?\s{0,3}[:=]\s{0,3}[\"']?"
AUTH = (
    Rule(
        "authorization",
        "AUTH",
        ("authorization",),
        rf"authorization{_HEADER}((?:(?:bearer|basic|token|digest|apikey|negotiate)\s{{1,3}})"
        rf"(?!\[redacted|[{{$<*])[a-z0-9._~+/=:-]{{6,4096}}+|(?=[a-z_-]{{0,64}}\d)[a-z0-9._~+/=-]{{20,4096}}+)",
        low=True,
        group=1,
    ),
    Rule(
        "auth_scheme",
        "AUTH",
        ("bearer ", "basic "),
        r"b(?<![a-z0-9_]b)(?:earer|asic) {1,3}((?=[a-z._~+/=-]{0,64}\d)[a-z0-9._~+/=-]{16,4096}+)",
        low=True,
        group=1,
    ),
)


def _is_key_in_base64(text: str, start: int, end: int) -> bool | str:
    """Whether a key stands behind it; a certificate is none."""
    from binascii import a2b_base64  # noqa: PLC0415  # seldom needed

    line = text[start : min(end, start + 400)].partition("\n")[0].partition("\\")[0]
    run = line.replace("-", "+").replace("_", "/").rstrip("=\r")
    hidden = a2b_base64(run[: len(run) // 4 * 4]).decode("latin-1")
    if hidden.startswith("-----BEGIN"):
        return "PRIVATE_KEY" if "PRIVATE KEY" in hidden[:60] else False
    for rule in PROVIDERS:
        if rule.prefix and rule.wanted(hidden, "") and compiled(rule.prefix).match(hidden):
            return rule.category
    return False


WRAPPED = (
    Rule(
        "base64_key",
        "SECRET",
        ("LS0tLS1CRUdJTi", "Z2", "c2st", "c2tf", "QUtJQ", "QVNJQ", "QUl6Y", "eG94", "bnBtX"),
        r"(?<![A-Za-z0-9+/_-])(?:LS0tLS1CRUdJTi|Z2h[1a-z]X|Z2l0aHViX3|c2st|c2tf|Q(?:UtJQ|VNJQ|Ul6Y)|Z2x|eG94|bnBtX)"
        r"[A-Za-z0-9+/_-]{18,32768}+={0,2}(?:(?:\r?\n|\\n)[ \t]{0,20}[A-Za-z0-9+/]{40,128}+={0,2})*+",
        check=_is_key_in_base64,
    ),
    Rule(
        "putty_key",
        "PRIVATE_KEY",
        ("Private-Lines:",),
        r"Private-Lines: {0,2}\d{1,4}(?:\s|\\[nrt])++((?:(?!Private-)[A-Za-z0-9+/=]{1,128}+(?:\s|\\[nrt])*+)++"
        r"(?:Private-(?:MAC|Hash): ?[0-9a-f]{40,64})?+)",
        group=1,
    ),
)


def _is_value(text: str, start: int, end: int) -> bool:
    value = text[start:end]
    return not value.startswith(("[REDACTED", "$", "<", "{", "%", "*")) and not value.replace(":", "").isdigit()


# Programs that take a password behind a short option.
COMMANDS = (
    Rule(
        "command",
        "SECRET",
        ("curl ", "wget "),
        r"(?:curl|wget) [^|;&]{0,200}?(?<= )(?:-[a-zA-Z]{0,6}[uU]|--(?:proxy-)?user)[ =]{0,2}[\"']?[^\s:\"']{1,64}:"
        r"([^\s\"']{1,256}+)",
        group=1,
        check=_is_value,
    ),
    Rule(
        "command",
        "SECRET",
        ("mysql", "mariadb"),
        r"(?:mysql|mariadb)(?:-?dump|admin|import|check)? [^|;&\n]{0,200}?(?<= )-p[\"']?([^\s\"'-][^\s\"']{2,128}+)",
        group=1,
        check=_is_value,
    ),
    Rule(
        "command",
        "SECRET",
        ("sshpass ", "docker login ", "podman login ", "redis-cli "),
        r"(?:sshpass|(?:docker|podman) login|redis-cli) [^|;&\n]{0,200}?(?<= )-[pa] ?[\"']?([^\s\"'-][^\s\"']{2,128}+)",
        group=1,
        check=_is_value,
    ),
    Rule(
        "command",
        "SECRET",
        ("identified ",),
        r"identified (?:with [a-z0-9_\"'`]{1,40} )?by (?:password )?[\"']([^\s\"']{1,256}+)[\"']",
        low=True,
        group=1,
        check=_is_value,
    ),
)

URL_TOKEN = Rule(
    "url_token",
    "URL",
    ("http://", "https://", "wss://", "ws://"),
    rf"(?:https?|wss?)://{_IN_URL}{{1,4096}}+",
    check=lambda text, start, end: _carries_token(text[start:end]),
)
_PARAMETER = (
    r"(?i)[?&#;](?:[a-z0-9_-]{0,20}(?:token|api_?key|apikey|secret|passw(?:or)?d|signature|credential)"
    r"|key|auth|sig|sv|pwd|code|jwt|x-amz-[a-z-]{0,20})=(?!\[REDACTED)[^&#\s]{6}"
    r"|hooks\.slack\.com/(?:services|workflows)/T|discord(?:app)?\.com/api/webhooks/\d|api\.telegram\.org/bot\d"
    r"|webhook\.office\.com/webhookb2/"
)


def _carries_token(url: str) -> bool:
    return compiled(_PARAMETER).search(url) is not None


# A user's name as a folder: any letters, escapes of a space too. Of a name in several words the others begin with a
# capital or a foreign letter, or there is one more and a slash: else it is a sentence that goes on behind a path.
_OF_A_NAME = (
    r"(?:[^\s/\\\"'`<>|:;,()\[\]{}*?&$#!=%"
    r"\u2026\u201c\u201d\u2018\u2019\xab\xbb\u3001\u3002\uff08\uff09\uff0c\x00-\x1f]|%[0-9A-Fa-f]{2}|\\ )"
)
_MORE_NAMES = (
    rf"(?:(?: (?=[A-Z0-9]|[^\x00-\x7f]|(?:von|van|de[nrl]?|d[aiou]|la|le|bin|al|el) ){_OF_A_NAME}{{1,32}}+){{1,4}}+"
    r"(?=[/\\\"'`<\r\n]|\Z)"
    r"| (?!(?:and|or|to|in|into|is|as|on|at|of|by|from|with|for|via|the|a|src|lib|tests?|docs?|bin|apps?|see|then)\b)"
    rf"{_OF_A_NAME}{{1,32}}+(?=/))?"
)
_PATH_END = r"[^\s\"'`<>|:;,)\]}*?\[({]"
PATHS = (
    Rule(
        "path_unix",
        "PATH",
        tuple(f"/{folder}/" for folder in ("home", "Users")),
        rf"/(?:home|Users)/{{1,4}}+(?!Shared\b)(?!\.){_OF_A_NAME}{{1,64}}+(?:(?=/)|{_MORE_NAMES})"
        rf"(?:/{_PATH_END}{{0,1024}}+)?",
        left=_ASCII_LETTERS + _DIGITS + "/",
        reach=16,
        check=lambda text, start, _: text[start] == "/" and _begins(text, start),
    ),
    Rule(
        "path_windows",
        "PATH",
        ("\\Users\\", "\\users\\", "\\USERS\\", ":/Users", ":/users", "\\Documents and Settings\\"),
        r"(?:[A-Za-z]:|(?<![\w\\])\\{2,8}+[\w.$-]{1,64}+)[\\/]{1,8}+(?i:users|documents and settings)[\\/]{1,8}+"
        r"(?!(?i:public|default|all users)\b)(?:[^\\/:*?\"'<>|\r\n]{1,64}(?=[\\/])"
        rf"|[^\\/:*?\"'<>|\s,;)\]]{{1,64}}+{_MORE_NAMES})(?:[\\/][^\s\"'<>|:;,)*?\]]{{0,1024}}+)?",
    ),
    Rule(
        "path_encoded",
        "PATH",
        ("projects/-", "projects\\-"),
        r"projects[\\/](-(?:Users|home)-[A-Za-z0-9._-]{1,512}+)",
        group=1,
    ),
)
_PART_OF_A_NAME = frozenset(_ASCII_LETTERS + _DIGITS + "_-.")


def _begins(text: str, start: int) -> bool:
    before = text[max(0, start - 2) : start]
    return before[-1:] not in _PART_OF_A_NAME or before in {"\\n", "\\r", "\\t"}
