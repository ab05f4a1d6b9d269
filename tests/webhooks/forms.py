"""Addresses by which people have reached into networks that they should not, and what is said to each.

`{port}` is where a trap listens on every loopback address. A form may come with names that the name server knows.
"""

# ruff: noqa: RUF001, S104  # letters that look like others, and addresses of every kind, are the point

from __future__ import annotations

from typing import NamedTuple

PUBLIC, PUBLIC_6 = "93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"


class Form(NamedTuple):
    url: str
    why: str
    answers: tuple[str, ...] = ()  # of the name server, for `trap.test`


SPECIAL_4 = (
    "0.0.0.0", "0.0.0.1", "0.255.255.255", "10.0.0.0", "10.0.0.1", "10.255.255.255", "100.64.0.0", "100.64.0.1",
    "100.100.100.200", "100.127.255.255", "127.0.0.0", "127.0.0.1", "127.0.0.2", "127.0.1.1", "127.1.1.1",
    "127.255.255.255", "168.63.129.16", "169.254.0.1", "169.254.169.253", "169.254.169.254", "169.254.170.2",
    "169.254.255.255", "172.16.0.0", "172.17.0.1", "172.31.255.255", "192.0.0.1", "192.0.0.8", "192.0.0.170",
    "192.0.0.192", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.0.1", "192.168.1.1", "192.168.255.255",
    "198.18.0.1", "198.19.255.255", "198.51.100.7", "203.0.113.9", "224.0.0.1", "224.0.0.251", "239.255.255.250",
    "240.0.0.1", "255.255.255.254", "255.255.255.255",
)  # fmt: skip
SPECIAL_6 = (
    "::", "::1", "0:0:0:0:0:0:0:1", "0000:0000:0000:0000:0000:0000:0000:0001", "::0001", "::2", "::127.0.0.1", "::7f00:1",
    "::10.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "0:0:0:0:0:ffff:7f00:1", "::FFFF:127.0.0.1", "::ffff:0.0.0.0",
    "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::ffff:a9fe:a9fe", "::ffff:192.168.0.1", "::ffff:93.184.215.14",
    "::ffff:0:127.0.0.1", "::ffff:0:7f00:1", "64:ff9b::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1",
    "64:ff9b::169.254.169.254", "64:ff9b::93.184.215.14", "64:ff9b:1::1", "64:ff9b:1:fffe::7f00:1", "100::1", "100:0:0:1::1",
    "2001::1", "2001:0:7f00:1::", "2001:0:5ef5:79fd:0:0:80ff:fffe", "2001:1::1", "2001:2::1", "2001:10::1", "2001:20::1",
    "2001:db8::1", "2001:db8:ffff::1", "2002:7f00:1::", "2002:7f00:1::1", "2002:a00:1::1", "2002:a9fe:a9fe::1",
    "2002:5db8:d70e::1", "2606:2800::5efe:127.0.0.1", "2606:2800::200:5efe:10.0.0.1", "3fff::1", "3fff:fff::1", "4000::1",
    "5f00::1", "8000::1", "e000::1", "fc00::1", "fd00::1", "fd00:ec2::254", "fd12:3456:789a::1", "fdff:ffff::1", "fe80::1",
    "fe80::a9fe:a9fe", "febf::1", "fec0::1", "ff01::1", "ff02::1", "ff05::2", "ff0e::1",
)  # fmt: skip
DISGUISED = (
    "0", "00", "0x0", "0x", "1", "127", "127.1", "127.0.1", "127.000.000.001", "127.0.0.01", "127.0.0.001", "0127.0.0.1",
    "0177.0.0.1", "0177.0.0.01", "0177.1", "0177.0.1", "017700000001", "00000177.0.0.1", "0x7f.1", "0x7f.0.0.1", "0X7F.0.0.1",
    "0x7f.0x0.0x0.0x1", "0x7f000001", "0x7F000001", "0x000000007f000001", "127.0x1", "127.0.0x1", "0x7f.0.1", "2130706433",
    "02130706433", "4294967295", "4294967296", "6425673729", "10.1", "10.0.1", "012.0.0.1", "0xa.0.0.1", "167772161",
    "192.168.1", "192.168.257", "192.11010305", "0300.0250.0.1", "0xc0a80001", "3232235521", "169.254.43518", "0xa9fea9fe",
    "0251.0376.0251.0376", "0251.254.169.254", "0xa9.0xfe.0xa9.0xfe", "2852039166", "7147006462", "425.510.425.510",
    "127.0.0.257", "256.256.256.256", "1.2.3.4.5", "1.2.3", "example.1", "example.0x7f", "127.0.0.0x", "127.0.0.1.0",
)  # fmt: skip
FOREIGN = (
    "１２７.０.０.１", "１２７．０．０．１", "127。0。0。1", "127．0．0．1", "127｡0｡0｡1", "①②⑦.⓪.⓪.①", "𝟏𝟐𝟕.𝟎.𝟎.𝟏", "𝟙𝟚𝟟.0.0.1",
    "١٢٧.٠.٠.١", "१२७.०.०.१", "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ", "ｌｏｃａｌｈｏｓｔ", "localhoſt", "lo\u00adcalhost", "local\u200bhost", "local\u2060host", "127.0.0.1\u200b",
    "127.0.0\u20241", "127.0.0.1\u3002", "\ufeff127.0.0.1", "2130706433\uff10", "\uff10x7f000001", "[\uff1a\uff1a1]",
    "[::\uff11]", "example.com\uff0f@127.0.0.1", "127.0.0.1\uff03.example.com", "ⓔⓧⓐⓜⓟⓛⓔ.com", "127.0.0.1\u2028",
)  # fmt: skip
PERCENT = (
    "%31%32%37.0.0.1", "127%2e0%2e0%2e1", "127.0.0.1%2e", "127.0.0.1%00", "127.0.0.1%00.example.com", "%6c%6f%63%61lhost",
    "localhost%2e", "127.0.0.1%23.example.com", "127.0.0.1%2f.example.com", "example.com%40127.0.0.1", "[fe80::1%25eth0]",
    "[fe80::1%eth0]", "[::1%25lo]", "[::1%lo]", "[::1%251]", "%5b::1%5d", "%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1",
)  # fmt: skip
BROKEN_HOSTS = (
    "", ".", "..", "localhost.", "localhost..", ".localhost", "127.0.0.1.", ".127.0.0.1", "127..0.0.1", "a..b", "-a.test",
    "a-.test", "a" * 64 + ".test", "a." * 130 + "test", "::1", "fe80::1", "::ffff:127.0.0.1", "a!b.test", "$(id).test",
    "a*.test", "a,b.test", "a;b.test", "(127.0.0.1)", "127.0.0.1,example.com", "a=b.test", "'127.0.0.1'", "a+b.test",
    "a~b.test", "a&b.test",
)  # fmt: skip
BROKEN_BRACKETS = (
    "[]", "[:]", "[:::]", "[::g]", "[127.0.0.1]", "[localhost]", "[::1.2.3]", "[::ffff:0x7f.0.0.1]", "[::ffff:127.1]",
    "[1:2:3:4:5:6:7:8:9]", "[v1.a]", "[::127.0.0.01]",
)  # fmt: skip
USERS = (
    "user@127.0.0.1", "user:word@127.0.0.1", "example.com@127.0.0.1", "example.com:443@127.0.0.1", "@127.0.0.1", ":@127.0.0.1",
    "127.0.0.1@example.com", "a@b@127.0.0.1", "example.com:80:@127.0.0.1", "[::1]@example.com",
)  # fmt: skip


def where_only_the_host_decides() -> list[Form]:
    """Tried with plain http, any of these ports and no network allowed: nothing but the host can be refused."""
    forms = [Form(f"http://{host}:{{port}}/", "not public") for host in SPECIAL_4]
    forms += [Form(f"http://[{host}]:{{port}}/", "not public") for host in SPECIAL_6]
    forms += [Form(f"http://{host}:{{port}}/", "number in disguise") for host in DISGUISED]
    forms += [Form(f"http://{host}:{{port}}/", "character") for host in FOREIGN]
    forms += [Form(f"http://{host}:{{port}}/", "percent sign") for host in PERCENT]
    forms += [Form(f"http://{host}:{{port}}/", "no plain name") for host in BROKEN_HOSTS]
    forms += [Form(f"http://{host}:{{port}}/", "brackets") for host in BROKEN_BRACKETS]
    forms += [Form(f"http://{host}:{{port}}/", "names a user") for host in USERS]
    return forms


def where_letters_are_slipped_in() -> list[Form]:
    slipped = (" ", "\t", "\n", "\r", "\r\n", "\0", "\v", "\f", "\x1f", "\x7f", "\x85", "\xa0", "\\", '"', "<", ">", "^", "`",
               "{", "|", "}")  # fmt: skip
    forms = [Form(f"http://127.0.0.1{letter}:{{port}}/", "character") for letter in slipped]
    forms += [Form(f"{letter}http://127.0.0.1:{{port}}/", "character") for letter in slipped]
    forms += [
        Form("http:\\\\127.0.0.1:{port}\\", "character"),
        Form("http://example.com\\@127.0.0.1:{port}/", "character"),
        Form("http://127.0.0.1:{port}\\@example.com/", "character"),
        Form("http://127.0.0.1:{port}/\r\nHost: example.com", "character"),
        Form("http://127.0.0.1:{port}/#@example.com/", "fragment"),
        Form("http://example.com#@127.0.0.1:{port}/", "fragment"),
        Form("http://127.0.0.1:{port}?@example.com/", "not public"),
        Form("http://127.0.0.1:{port}/@example.com", "not public"),
        Form("http://127.0.0.1:{port}/../../example.com", "not public"),
        Form("http://[::1]x:{port}/", "no plain name"),
        Form("http://[::1].example.com:{port}/", "no plain name"),
        Form("http://[::1/", "no plain name"),
        Form("http://::1]:{port}/", "no plain name"),
        Form("http:///127.0.0.1:{port}/", "no plain name"),
        Form("http:////127.0.0.1:{port}/", "no plain name"),
    ]
    return forms


def where_the_name_server_lies() -> list[Form]:
    """A name that is as good as any, and what it is said to be."""
    forms = [Form("http://trap.test:{port}/", "not public", (address,)) for address in (*SPECIAL_4, *SPECIAL_6)]
    mixed = (
        (PUBLIC, "127.0.0.1"), ("127.0.0.1", PUBLIC), (PUBLIC, "::1"), ("::1", PUBLIC), (PUBLIC, PUBLIC_6, "10.0.0.1"),
        (PUBLIC_6, "fd00::1"), ("169.254.169.254", PUBLIC), (PUBLIC, "::ffff:127.0.0.1"), (PUBLIC, "64:ff9b::7f00:1"),
        (PUBLIC, "0.0.0.0"), (PUBLIC_6, "127.0.0.1"), (PUBLIC, PUBLIC, PUBLIC, PUBLIC, PUBLIC, "192.168.0.1"),
    )  # fmt: skip
    return forms + [Form("http://trap.test:{port}/", "not public", answers) for answers in mixed]


def where_scheme_and_port_decide() -> list[Form]:
    """Tried with the rules as they are: https on its usual port."""
    schemes = ("http", "ftp", "ftps", "file", "gopher", "dict", "ldap", "ldaps", "tftp", "sftp", "ws", "wss", "jar", "netdoc",
               "unix", "data", "javascript", "php", "redis", "smb", "https+unix", "httpss", "view-source")  # fmt: skip
    forms = [Form(f"{scheme}://trap.test/", "begin with https", (PUBLIC,)) for scheme in schemes]
    forms += [
        Form(url, "begin with https", (PUBLIC,))
        for url in (
            "trap.test",
            "//trap.test/",
            "/hook",
            "https:trap.test",
            "https:/trap.test",
            "://trap.test/",
            "https",
        )
    ]
    ports = (
        "22",
        "25",
        "80",
        "6379",
        "8080",
        "8443",
        "0",
        "00",
        "0443",
        "444",
        "65536",
        "65979",
        "4430",
        "99999",
        "443443",
        "",
    )
    forms += [Form(f"https://trap.test:{port}/", "its port", (PUBLIC,)) for port in ports]
    odd = ("-443", "+443", "4 43", "443:443", "443a", "0x1bb", "４４３", "443@x", "%34%34%33", "*")
    forms += [Form(f"https://trap.test:{port}/", "refused", (PUBLIC,)) for port in odd]
    return [*forms, Form("", "character"), Form("https://trap.test/" + "a" * 2100, "2048 characters", (PUBLIC,))]
