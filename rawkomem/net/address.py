"""Classifies IP addresses by a fixed table, because Python's own table changes between versions.

Sources: the IANA registries of special-purpose addresses (RFC 6890 and its updates) and the metadata services of cloud
providers. IPv6 addresses that carry an IPv4 address are never public: they would bypass the table.
"""

from __future__ import annotations

from ipaddress import ip_address, ip_network

PUBLIC = "public"
LOOPBACK = "loopback"
PRIVATE = "private"  # the user's own network
NEVER = "never"  # no user's server is at such an address

_ROWS = (  # the first row that matches counts
    ("168.63.129.16/32", NEVER, "a metadata service (Azure)"),  # in the middle of a public range
    ("100.100.100.200/32", NEVER, "a metadata service (Alibaba)"),
    ("0.0.0.0/8", NEVER, "an unspecified address, which may be this machine"),
    ("127.0.0.0/8", LOOPBACK, "this machine"),
    ("10.0.0.0/8", PRIVATE, "a private network"),
    ("172.16.0.0/12", PRIVATE, "a private network"),
    ("192.168.0.0/16", PRIVATE, "a private network"),
    ("100.64.0.0/10", PRIVATE, "a provider's or VPN's shared network"),
    ("169.254.0.0/16", NEVER, "link-local, where metadata services live"),
    ("192.0.0.0/24", NEVER, "reserved for protocols"),  # Oracle's metadata service is 192.0.0.192
    ("192.0.2.0/24", NEVER, "for documentation"),
    ("192.88.99.0/24", NEVER, "a 6to4 relay"),
    ("198.18.0.0/15", NEVER, "for benchmarks"),
    ("198.51.100.0/24", NEVER, "for documentation"),
    ("203.0.113.0/24", NEVER, "for documentation"),
    ("224.0.0.0/4", NEVER, "multicast"),
    ("240.0.0.0/4", NEVER, "reserved"),
    ("0.0.0.0/0", PUBLIC, "public"),
    ("fd00:ec2::/32", NEVER, "a metadata service (AWS)"),
    ("fd20:ce::254/128", NEVER, "a metadata service (Google)"),
    ("fd00:42::42/128", NEVER, "a metadata service (Scaleway)"),
    ("::1/128", LOOPBACK, "this machine"),
    ("fc00::/7", PRIVATE, "a private network"),
    ("fe80::/10", NEVER, "link-local"),
    ("fec0::/10", NEVER, "site-local"),
    ("ff00::/8", NEVER, "multicast"),
    ("::ffff:0:0/96", NEVER, "an IPv4 address in IPv6 (mapped)"),
    ("64:ff9b::/96", NEVER, "an IPv4 address in IPv6 (NAT64)"),
    ("64:ff9b:1::/48", NEVER, "an IPv4 address in IPv6 (NAT64)"),
    ("::/96", NEVER, "an IPv4 address in IPv6 (compatible)"),
    ("2002::/16", NEVER, "an IPv4 address in IPv6 (6to4)"),
    ("2001::/32", NEVER, "an IPv4 address in IPv6 (Teredo)"),
    ("2001::/23", NEVER, "reserved for protocols"),
    ("2001:db8::/32", NEVER, "for documentation"),
    ("3fff::/20", NEVER, "for documentation"),
    ("2000::/3", PUBLIC, "public"),
    ("::/0", NEVER, "not assigned to anybody"),
)
TABLE = [(ip_network(network), reach, what) for network, reach, what in _ROWS]


def classify(address: str) -> tuple[str, str]:
    """Return the class of an address (PUBLIC, LOOPBACK, PRIVATE or NEVER), and a description."""
    ip = ip_address(address)
    return next((reach, what) for network, reach, what in TABLE if ip in network)
