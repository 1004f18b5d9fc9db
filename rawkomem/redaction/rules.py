"""The rules of redaction, as data: the shapes of keys and of personal data. RE2 compiles a pattern
when it is first used, because an ordinary text needs few of them.

A row is (name, literals, pattern): the pattern is tried if a literal occurs in the text. Patterns
are RE2, case-sensitive, on one byte per character; group 1 is the secret. Lengths are open-ended if
keys may become longer.
"""

from __future__ import annotations

from typing import Any

from ..model.values import record

# Compiles patterns with RE2 on first use, because an ordinary text needs few of them.

MAX_PATTERN_BYTES = 8 << 20  # bytes RE2 may use for one pattern

_compiled: dict[tuple[str, bool], Any] = {}
_word_sets: dict[tuple[str, ...], Any] = {}


def compiled(pattern: str, groups: bool = True) -> Any:
    """Return a pattern that reads one byte per character; without groups it matches faster."""
    if (pattern, groups) not in _compiled:
        import re2

        options = _re2_options()
        options.never_capture = not groups
        _compiled[pattern, groups] = re2.compile(pattern.encode("latin-1"), options)
    return _compiled[pattern, groups]


def occurring(words: tuple[str, ...], data: bytes) -> frozenset[str]:
    """Return which of these words occur, in one pass over the text."""
    if words not in _word_sets:
        import re2

        options = _re2_options()
        options.literal = True
        _word_sets[words] = re2.Set.SearchSet(options)
        for word in words:
            _word_sets[words].Add(word)
        _word_sets[words].Compile()
    return frozenset(words[number] for number in _word_sets[words].Match(data) or ())


def _re2_options() -> Any:
    import re2

    options = re2.Options()
    options.log_errors, options.max_mem = False, MAX_PATTERN_BYTES
    options.encoding = re2.Options.Encoding.LATIN1
    return options


# The rule table of redaction: the shapes of secrets and personal data. Data only; find.py applies
# it.
#
# A row is (name, literals, pattern): the pattern is tried if a literal occurs in the text.
# Patterns are RE2, case-sensitive, on one byte per character; group 1 is the secret. Lengths are
# open-ended if keys may become longer.


@record
class Rule:
    """One kind of secret or personal data."""

    name: str
    literals: tuple[str, ...] = ()
    pattern: str = ""
    pii: bool = False
    check: str = (
        ""  # see find.py: randomness for common prefixes, a checksum or shape for personal data
    )

    @property
    def tag(self) -> str:
        """Return the tag that replaces a secret."""
        return f"[REDACTED_{TAGS.get(self.name, self.name).upper().replace('-', '_')}]"


TAGS = {"password": "secret"}  # RFC-0011 has one tag for values of passwords, secrets and tokens

KEY_START = r"(?:\b|_)"  # Markdown's underscores count as a boundary
KEY_END = r"(?:[^0-9A-Za-z]|$)"  # after a key of fixed length, as in `**key**`, `key.`, `?t=key&`, or a backtick

HEX = "[0-9a-f]"
ALNUM = "[0-9A-Za-z]"
UUID = f"{HEX}{{8}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{4}}-{HEX}{{12}}"

# Keys that start with a literal: name, literals, pattern of the key.
PREFIXED = (
    ("aws-key", "AKIA ASIA ABIA ACCA AGPA AIDA AIPA ANPA ANVA AROA A3T",
     rf"((?:A3T[A-Z0-9]|A(?:KI|SI|BI|CC|GP|ID|IP|NP|NV|RO)A)[A-Z0-9]{{16}}){KEY_END}"),
    ("aws-bedrock-key", "ABSK bedrock-api-key-", r"(ABSK[\w+/]{109,}={0,2}|bedrock-api-key-[\w+/=]{60,})"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", rf"(gh[pousr]_{ALNUM}{{36,}}|github_pat_\w{{30,}})"),
    ("gitlab-token", "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941",
     r"(gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.=-]{20,}|GR1348941[\w-]{20,})"),
    ("slack-token", "xox xapp-", r"(xoxe\.xox[bp]-\d-\w{60,}|xox[a-z]-[0-9A-Za-z-]{10,}|xapp-\d-[\w-]{20,})"),
    ("stripe-key", "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_",
     rf"([sr]k_(?:live|test|prod)_{ALNUM}{{10,}}|whsec_[\w+/=]{{24,}})"),
    ("google-key", "AIza GOCSPX- ya29. 1//0", r"(AIza[\w-]{35}|GOCSPX-[\w-]{24,}|ya29\.[\w-]{20,}|1//0[\w-]{30,})"),
    ("anthropic-key", "sk-ant-", r"(sk-ant-[\w-]{20,})"),
    ("openrouter-key", "sk-or-", r"(sk-or-v1-[0-9a-f]{40,})"),
    ("hugging-face-token", "hf_ api_org_", rf"((?:hf_|api_org_){ALNUM}{{30,}})"),
    ("npm-token", "npm_", rf"(npm_{ALNUM}{{36,}})"),
    ("pypi-token", "pypi-AgE", r"(pypi-AgE[\w-]{30,})"),
    ("sendgrid-key", "SG.", r"(SG\.[\w-]{16,}\.[\w-]{16,}|SG\.[\w=-]{60,})"),
    ("brevo-key", "xkeysib- xsmtpsib-", r"(x(?:key|smtp)sib-[0-9a-f]{64}-\w{16})"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"(do[opr]_v1_[0-9a-f]{64})"),
    ("shopify-token", "shpat_ shpca_ shppa_ shpss_ shptka_ shpua_", r"(shp(?:at|ca|pa|ss|tka|ua)_[0-9a-fA-F]{32})"),
    ("square-token", "sq0 EAAA", r"(sq0[a-z]{2,3}-[\w\\^\[\]-]{22,}|EAAA[\w-]{56,})"),
    ("facebook-token", "EAA", rf"(EAA{ALNUM}{{60,}})"),
    ("databricks-token", "dapi", r"(dapi[0-9a-f]{32}(?:-\d)?)"),
    ("linear-key", "lin_api_ lin_oauth_", rf"(lin_(?:api|oauth)_{ALNUM}{{30,}})"),
    ("notion-token", "ntn_ secret_", rf"(ntn_\d{{5,}}{ALNUM}{{30,}}|secret_{ALNUM}{{43}}){KEY_END}"),
    ("grafana-token", "glc_ glsa_ eyJrIjoi",
     rf"(glc_[\w+/]{{32,}}={{0,2}}|glsa_{ALNUM}{{32}}_[0-9a-fA-F]{{8}}|eyJrIjoi{ALNUM}{{60,}}={{0,3}})"),
    ("vault-token", "hvs. hvb. hvr.", r"(hv[sbr]\.[\w-]{24,})"),
    ("doppler-token", "dp.pt. dp.ct. dp.st. dp.sa. dp.scim. dp.audit. dp.said.",
     rf"(dp\.(?:pt|ct|st|sa|scim|audit|said)\.(?:[a-z0-9_-]{{2,35}}\.)?{ALNUM}{{40,}})"),
    ("age-key", "AGE-SECRET-KEY-", r"(AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50,})"),
    ("groq-key", "gsk_", rf"(gsk_{ALNUM}{{40,}})"),
    ("xai-key", "xai-", rf"(xai-{ALNUM}{{60,}})"),
    ("perplexity-key", "pplx-", rf"(pplx-{ALNUM}{{32,}}'?)"),
    ("replicate-token", "r8_", rf"(r8_{ALNUM}{{37,}})"),
    ("together-key", "tgp_v1_", r"(tgp_v1_[\w-]{40,})"),
    ("fireworks-key", "fw_", rf"(fw_{ALNUM}{{22,}}){KEY_END}"),
    ("cerebras-key", "csk-", r"(csk-[0-9a-z]{40,})"),
    ("nvidia-key", "nvapi-", r"(nvapi-[\w-]{60,})"),
    ("voyage-key", "pa-", r"(pa-[\w-]{43})"),
    ("wandb-key", "wandb_v1_", r"(wandb_v1_\w{40,})"),
    ("firecrawl-key", "fc-", rf"(fc-[0-9a-f]{{32}}){KEY_END}"),
    ("posthog-key", "phx_", rf"(phx_{ALNUM}{{40,}})"),
    ("vercel-token", "vcp_ vci_ vca_ vcr_ vck_", rf"(vc[piark]_{ALNUM}{{24,}})"),
    ("neon-key", "napi_", r"(napi_[0-9a-z]{40,})"),
    ("dbt-token", "dbtc_ dbtu_ dbts_", rf"(dbt[cus]_[{ALNUM[1:-1]}_-]{{30,}})"),
    ("paddle-key", "pdl_live_ pdl_sdbx_", rf"(pdl_(?:live|sdbx)_apikey_[0-9a-z]{{26}}_{ALNUM}{{22}}_{ALNUM}{{3}})"),
    ("braintree-token", "access_token$", r"(access_token\$(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32})"),
    ("defined-networking-token", "dnkey-", r"(dnkey-[0-9a-z=_-]{26}-[0-9a-z=_-]{52})"),
    ("mandrill-key", "md-", rf"(md-[\w-]{{22}}){KEY_END}"),
    ("tencent-key", "AKID", rf"(AKID{ALNUM}{{32}}){KEY_END}"),
    ("langsmith-key", "lsv2_", r"(lsv2_[ps][tk]_[0-9a-f]{32}_[0-9a-f]{10})"),
    ("pinecone-key", "pcsk_", r"(pcsk_\w{50,})"),
    ("tavily-key", "tvly-", r"(tvly-[\w-]{30,})"),
    ("jina-key", "jina_", rf"(jina_{ALNUM}{{50,}})"),
    ("elevenlabs-key", "sk_", r"(sk_[0-9a-f]{48})"),
    ("supabase-token", "sbp_ sb_secret_", r"(sbp_[0-9a-f]{40}|sb_secret_[\w-]{20,})"),
    ("firebase-key", "AAAA", r"(AAAA[\w-]{7}:[\w-]{140,})"),
    ("figma-token", "figd_ figu_", r"(fig[du]_[\w-]{40,})"),
    ("docker-token", "dckr_pat_ dckr_oat_", r"(dckr_[po]at_[\w-]{27,})"),
    ("crates-token", "cio", rf"(cio{ALNUM}{{32}}){KEY_END}"),
    ("rubygems-token", "rubygems_", r"(rubygems_[0-9a-f]{48})"),
    ("clojars-token", "CLOJARS_", r"(CLOJARS_[0-9a-z]{60})"),
    ("nuget-key", "oy2", rf"(oy2[0-9a-z]{{43}}){KEY_END}"),
    ("postman-key", "PMAK-", r"(PMAK-[0-9a-fA-F]{24}-[0-9a-fA-F]{34})"),
    ("pulumi-token", "pul-", r"(pul-[0-9a-f]{40})"),
    ("planetscale-token", "pscale_", r"(pscale_(?:tkn|pw|oauth)_[\w=.-]{32,})"),
    ("prefect-key", "pnu_ pnb_", rf"(pn[ub]_{ALNUM}{{36}})"),
    ("readme-key", "rdme_", r"(rdme_[0-9a-z]{70})"),
    ("scalingo-token", "tk-us-", r"(tk-us-[\w-]{48})"),
    ("shippo-token", "shippo_", r"(shippo_(?:live|test)_[0-9a-fA-F]{40})"),
    ("sentry-token", "sntrys_ sntryu_", r"(sntrys_eyJ[\w=+/-]{40,}|sntryu_[0-9a-f]{64})"),
    ("settlemint-token", "sm_aat_ sm_pat_ sm_sat_", rf"(sm_[aps]at_{ALNUM}{{16,}})"),
    ("sonar-token", "sqp_ squ_ sqa_", rf"(sq[pua]_{ALNUM}{{40}})"),
    ("sourcegraph-token", "sgp_", rf"(sgp_(?:[0-9a-fA-F]{{16}}_|local_)?[0-9a-fA-F]{{40}}|sgp_{ALNUM}{{64}})"),
    ("typeform-token", "tfp_", r"(tfp_[\w.=-]{40,})"),
    ("heroku-key", "HRKU-", r"(HRKU-[\w-]{36,})"),
    ("new-relic-key", "NRAK- NRII- NRIQ- NRRA- NRAA- NRJS- NRAL px-api- px-dep-",
     rf"(NR(?:AK|II|IQ|RA|AA|JS)-[\w-]{{19,}}|[0-9a-f]{{36}}NRAL|px-(?:api|dep)-{UUID})"),
    ("easypost-key", "EZAK EZTK", rf"(EZ[AT]K{ALNUM}{{54}}){KEY_END}"),
    ("duffel-token", "duffel_", r"(duffel_(?:test|live)_[\w=-]{40,})"),
    ("dynatrace-token", "dt0", rf"(dt0[a-z]\d\d\.{ALNUM}{{24}}\.{ALNUM}{{64}})"),
    ("fly-token", "fo1_ fm1 fm2_", r"(fo1_[\w-]{43}|fm(?:1[ar]|2)_[\w+/]{60,}={0,3})"),
    ("flutterwave-key", "FLWPUBK FLWSECK", rf"(FLW(?:PUB|SEC)K(?:_TEST)?-{ALNUM}{{12,}}(?:-X)?)"),
    ("frameio-token", "fio-u-", r"(fio-u-[\w=-]{60,})"),
    ("airtable-token", "pat", rf"(pat{ALNUM}{{14}}\.[0-9a-f]{{64}})"),
    ("hubspot-token", "pat-", rf"(pat-(?:na|eu|ap)\d-{UUID})"),
    ("harness-token", "pat. sat.", rf"([ps]at\.[\w-]{{22}}\.{ALNUM}{{24}}\.{ALNUM}{{20}})"),
    ("infracost-key", "ico-", rf"(ico-{ALNUM}{{32}}){KEY_END}"),
    ("intra42-secret", "s-s4t2", r"(s-s4t2(?:ud|af)-[0-9a-f]{64})"),
    ("lob-key", "test_ live_", r"((?:test|live)_(?:pub_)?[0-9a-f]{31,35})"),
    ("gocardless-token", "live_", r"(live_[\w=-]{40})"),
    ("adobe-secret", "p8e- p8-", rf"(p8e?-[{ALNUM[1:-1]}-]{{32,}})"),
    ("alibaba-key", "LTAI", rf"(LTAI{ALNUM}{{17,25}}){KEY_END}"),
    ("authress-key", "sc_ ext_ scauth_ authress_",
     r"((?:sc|ext|scauth|authress)_[0-9a-z]{5,30}\.[0-9a-z]{4,6}\.acc[_-][0-9a-z-]{10,32}\.[\w+/=-]{30,})"),
    ("yandex-token", "t1. AQVN YC", r"(t1\.[\w-]+={0,2}\.[\w-]{80,}={0,2}|AQVN[\w-]{35,}|YC[\w-]{38})"),
    ("clickhouse-secret", "4b1d", rf"(4b1d{ALNUM}{{38}}){KEY_END}"),
    ("cloudflare-key", "v1.0-", r"(v1\.0-[0-9a-f]{24}-[0-9a-f]{146})"),
    ("one-password-key", "A3- ops_eyJ", r"(A3-[A-Z0-9]{6}-[A-Z0-9-]{26,32}|ops_eyJ[\w+/]{100,}={0,3})"),
    ("openshift-token", "sha256~", r"(sha256~[\w-]{43})"),
    ("octopus-key", "API-", rf"(API-[A-Z0-9]{{26}}){KEY_END}"),
    ("mapbox-token", "pk.eyJ sk.eyJ tk.eyJ", r"([pst]k\.eyJ[\w-]{20,}\.[\w-]{15,})"),
    ("salesforce-token", "00D", r"(00D\w{12,15}![\w.]{60,})"),
    ("stackhawk-key", "hawk.", r"(hawk\.[\w-]{20}\.[\w-]{20})"),
    ("dependency-track-key", "odt_", rf"(odt_(?:{ALNUM}{{8}}_)?{ALNUM}{{32,}})"),
    ("artifactory-key", "AKC AP cmVmdGtu",
     rf"(AKC{ALNUM}{{10,}}|AP[0-9]{ALNUM}{{9,}}|AP[A-F][0-9a-z]{{10,}}|cmVmdGtu{ALNUM}{{56}}){KEY_END}"),
    ("contentful-token", "CFPAT-", r"(CFPAT-[\w-]{43})"),
    ("asana-token", "0/ 1/ 2/", r"([01]/(?:\d{16}:)?[0-9a-f]{32}|2/\d{16}/\d{16}:[0-9a-f]{32})"),
    ("atlassian-token", "ATATT3 ATCTT3 ATBB ATSTT3", rf"(AT[ACS]TT3[\w=-]{{60,}}|ATBB{ALNUM}{{32,}})"),
    ("dropbox-token", "sl.", r"(sl\.(?:u\.)?[\w-]{100,})"),
    ("tailscale-key", "tskey-", r"(tskey-[a-z]+-[\w-]{20,})"),
    ("buildkite-token", "bkua_", r"(bkua_[0-9a-z]{40})"),
    ("circleci-token", "CCIPAT_ CCIPRJ_", r"(CCIP(?:AT|RJ)_[0-9A-Za-z]{20,}_[0-9a-f]{40})"),
    ("netlify-token", "nfp_ nfo_ nfc_ nfu_", rf"(nf[pocu]_{ALNUM}{{36}})"),
    ("render-key", "rnd_", rf"(rnd_{ALNUM}{{26,}})"),
    ("resend-key", "re_", rf"(re_{ALNUM}{{8}}_{ALNUM}{{24}})"),
    ("razorpay-key", "rzp_", rf"(rzp_(?:live|test)_{ALNUM}{{14,}})"),
    ("mollie-key", "live_ test_", rf"((?:live|test)_{ALNUM}{{30}}){KEY_END}"),
    ("mercadopago-token", "APP_USR-", r"(APP_USR-[\w-]{60,})"),
    ("plaid-token", "access-sandbox- access-production- access-development-",
     rf"(access-(?:sandbox|production|development)-{UUID})"),
    ("encoded-private-key", "LS0tLS1CRUdJTi",
     r"(LS0tLS1CRUdJTiB(?:SU0EgUFJJVkFURS|QUklWQVRFIEtFWS|FQyBQUklWQVRF|PUEVOU1NIIFBSSVZBVEU)[\w+/]*={0,2})"),
    ("twilio-key", "SK AC", rf"((?:SK|AC)[0-9a-f]{{32}}){KEY_END}"),
    ("mailgun-key", "key- pubkey-", r"((?:pub)?key-[0-9a-f]{32})"),
    ("amazon-mws-token", "amzn.", rf"(amzn\.mws\.{UUID}|amzn1\.oa2-cs\.v1\.[0-9a-f]{{64}})"),
    ("encoded-jwt", "ZXlK", r"(ZXlK[\w+/]{80,}={0,2})"),
    ("openai-key", "sk-", r"(sk-[\w-]{20,})"),
    ("vault-legacy-token", "s. b.", rf"([sb]\.{ALNUM}{{24}}){KEY_END}"),
    ("adafruit-key", "aio_", rf"(aio_{ALNUM}{{28}}){KEY_END}"),
    ("mongodb-key", "mdb_sa_", r"(mdb_sa_(?:sk|id)_[\w-]{20,})"),
    ("e2b-key", "e2b_ sk_e2b_", r"((?:sk_)?e2b_[0-9a-f]{40})"),
    ("modal-token", "ak- as-", rf"(a[ks]-{ALNUM}{{22}}){KEY_END}"),
    ("apify-token", "apify_", rf"(apify_(?:api|proxy)_{ALNUM}{{20,}})"),
    ("brave-key", "BSA", r"(BSA[\w-]{24,28})"),
    ("onesignal-key", "os_v2_", r"(os_v2_(?:app|org)_[0-9a-z]{60,})"),
    ("mailersend-token", "mlsn.", r"(mlsn\.[0-9a-f]{64})"),
    ("launchdarkly-key", "sdk- api- mob-", rf"((?:sdk|api|mob)-{UUID})"),
    ("statsig-key", "secret- console-", rf"((?:secret|console)-{ALNUM}{{40,}}){KEY_END}"),
    ("stytch-secret", "secret-live- secret-test-", r"(secret-(?:live|test)-[\w=-]{30,})"),
    ("honeycomb-key", "hca hcx hcb", r"(hc[abx][lic]{1,2}[kc]?_[0-9a-z]{50,})"),
    ("woocommerce-key", "ck_ cs_", r"(c[ks]_[0-9a-f]{40})"),
    ("wix-token", "IST.eyJ OauthNG.JWS.eyJ", r"((?:IST|OauthNG\.JWS)\.eyJ[\w.-]{60,})"),
    ("clickup-token", "pk_", rf"(pk_\d{{5,12}}_[A-Z0-9]{{32}}){KEY_END}"),
    ("klaviyo-key", "pk_", rf"(pk_[0-9a-f]{{34}}){KEY_END}"),
    ("yandex-oauth-token", "y0_ y0__", r"(y0_[\w-]{50,})"),
    ("vk-token", "vk1.a.", r"(vk1\.a\.[\w-]{60,})"),
    ("pinterest-token", "pina_ pinr_", r"(pin[ar]_[0-9A-Z]{38,})"),
    ("checkout-key", "sk_sbox_ sk_", rf"(sk_(?:sbox_)?[0-9a-z]{{26,}}[#*$=]?){KEY_END}"),
    ("wallet-key", "xprv yprv zprv tprv", r"([xyzt]prv[1-9A-HJ-NP-Za-km-z]{100,})"),
    ("infisical-token", "st.", rf"(st\.(?:{UUID}|[0-9a-f]{{24}})\.[0-9a-f]{{32}}\.[0-9a-f]{{32}})"),
    ("trello-token", "ATTA", rf"(ATTA[0-9a-f]{{64}}{ALNUM}{{0,8}}){KEY_END}"),
    ("ebay-token", "v^1.1#", r"(v\^1\.1#i\^1#[\w^#+/=]{40,})"),
    ("confluent-secret", "cflt", r"(cflt[\w+/]{50,})"),
    ("aws-session-token", "IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz", r"((?:IQoJb3JpZ2lu|F[wQ]oGZXIvYXdz)[\w+/=%]{80,})"),
    ("google-hmac-key", "GOOG", rf"(GOOG[0-9A-Z]{{20,60}}){KEY_END}"),
    ("baidu-key", "ALTAK", rf"(ALTAK{ALNUM}{{21}}){KEY_END}"),
    ("volcengine-key", "AKLT", r"(AKLT[\w+/=]{36,})"),
    ("runpod-key", "rpa_", r"(rpa_[0-9A-Z]{38,})"),
    ("anyscale-key", "esecret_ aph0_", rf"((?:esecret|aph0)_{ALNUM}{{26,}})"),
    ("llamaindex-key", "llx-", rf"(llx-{ALNUM}{{40,}})"),
    ("xata-key", "xau_", rf"(xau_{ALNUM}{{30,}})"),
    ("browserbase-key", "bb_live_", r"(bb_live_[\w-]{20,})"),
    ("axiom-token", "xaat- xapt-", rf"(xa[ap]t-{UUID})"),
    ("netbird-token", "nbp_", rf"(nbp_{ALNUM}{{36}})"),
    ("portainer-token", "ptr_", r"(ptr_[\w+/=]{40,})"),
    ("backblaze-key", "K00", rf"(K00\d[\w+/]{{27}}){KEY_END}"),
    ("telnyx-key", "KEY0", rf"(KEY0[0-9A-F]{{30,32}}_{ALNUM}{{22}})"),
    ("coze-token", "pat_ sat_", rf"([ps]at_{ALNUM}{{60,}})"),
    ("databento-key", "db-", rf"(db-{ALNUM}{{29}}){KEY_END}"),
    ("intercom-token", "dG9rO", r"(dG9rO[\w+/]{50,}={0,2})"),
    ("cloudflare-tunnel-token", "eyJhIjoi", r"(eyJhIjoi[\w+/]{100,}={0,2})"),
    ("tinybird-token", "p.eyJ", r"(p\.eyJ[\w-]{20,}\.[\w-]{20,})"),
    ("unleash-token", "*:production. *:development. default:production. default:development.",
     r"((?:default|\*):(?:production|development)\.[0-9a-f]{50,})"),
    ("socket-key", "sktsec_", r"(sktsec_[\w-]{30,})"),
    ("secret-token", "secret-token:", r"secret-token:([\w%.~+/-]{12,})"),
    ("mem0-key", "m0-", rf"(m0-{ALNUM}{{40}}){KEY_END}"),
    ("rancher-token", "token-", r"(token-[0-9a-z]{5}:[0-9a-z]{54})"),
    ("proxmox-token", "PVEAPIToken=", rf"PVEAPIToken=\S{{1,80}}!\S{{1,40}}=({UUID})"),
    ("buildkite-agent-token", "bkct_ bkpt_ bkagent_", rf"(bk(?:ct|pt|agent)_{ALNUM}{{30,}})"),
)  # fmt: skip

# Keys without a known prefix: name, literals of which one must occur anywhere ("" = always), pattern.
SHAPED = (
    ("jwt", "eyJ", r"(eyJ[\w-]{10,}\.(?:eyJ[\w-]{10,}\.?[\w-]*|[\w-]*\.[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}))"),
    ("azure-secret", "Q~", r"([\w~.-]{3}\dQ~[\w~.-]{31,34})"),
    ("azure-key", "AccountKey= AccessKey= ;Secret=",
     r"(?:AccountKey|SharedAccessKey|;Secret)=([0-9A-Za-z+/]{40,}={0,2})"),
    ("azure-signature", "sig=", r"[?&;]sig=([\w%+/-]{40,}=*)"),
    ("azure-devops-token", "AZDO", rf"({ALNUM}{{76}}AZDO{ALNUM}{{4}})"),
    ("azure-function-key", "AzFu AzSe AzCa", r"([\w/+-]{40,44}Az(?:Fu|Se|Ca)[\w/+-]{4,8}={0,2})"),
    ("terraform-token", ".atlasv1.", rf"({ALNUM}{{14}}\.atlasv1\.[\w=-]{{60,}})"),
    ("azure-openai-key", "JQQJ99", rf"({ALNUM}{{52}}JQQJ99{ALNUM}{{20,30}})"),
    ("kubernetes-bootstrap-token", "token TOKEN",
     r"(?:bootstrap-token|BOOTSTRAP_TOKEN|--token|\btoken:)\W{1,4}([a-z0-9]{6}\.[a-z0-9]{16})\b"),
    ("mailchimp-key", "-us", rf"{KEY_START}([0-9a-f]{{32}}-us\d{{1,2}}){KEY_END}"),
    ("mailgun-key", "-", rf"{KEY_START}([0-9a-f]{{32}}-[0-9a-f]{{8}}-[0-9a-f]{{8}}){KEY_END}"),
    ("password-hash", "$1$ $2a$ $2b$ $2y$ $5$ $6$ $y$ $apr1$ $argon2",
     r"(\$2[aby]\$\d\d\$[\w./]{53}|\$(?:1|apr1)\$[\w./]{1,8}\$[\w./]{22}"
     r"|\$[56]\$(?:rounds=\d+\$)?[\w./]{1,16}\$[\w./]{43,86}|\$y\$[\w./]+\$[\w./]+\$[\w./]{43}"
     r"|\$argon2(?:id?|d)\$(?:v=\d+\$)?[\w=,]+\$[\w+/]{11,}\$[\w+/]{22,})"),
    ("discord-token", ".", rf"{KEY_START}([MNO][\w-]{{23,25}}\.[\w-]{{6}}\.[\w-]{{27,38}})(?:[^0-9A-Za-z-]|$)"),
    ("telegram-token", ":A", rf"{KEY_START}(?:bot)?(\d{{5,16}}:A[\w-]{{34}})(?:[^0-9A-Za-z-]|$)"),
    ("facebook-token", "|", r"\b(\d{15,16}\|[\w-]{27})(?:[^\w-]|$)"),
    ("slack-webhook", "hooks.slack.com/",
     r"((?:https?://)?hooks\.slack\.com/(?:services|workflows|triggers)/[\w+/-]{36,})"),
    ("discord-webhook", "/api/webhooks/",
     r"((?:https?://)?[\w.]*discord(?:app)?\.com/api/webhooks/\d+/[\w-]{50,})"),
    ("teams-webhook", "webhook",
     r"((?:https?://)?(?:[\w-]+\.webhook\.office\.com/webhookb2|outlook\.office(?:365)?\.com/webhook)/[\w@-]{60,}"
     r"/IncomingWebhook/\w{20,}/[\w-]{20,}(?:/[\w-]+)?)"),
    ("zapier-webhook", "hooks.zapier.com/", r"((?:https?://)?hooks\.zapier\.com/hooks/catch/\d+/\w+)"),
    ("gitlab-session", "_gitlab_session=", r"(_gitlab_session=\w{32,})"),
    ("maxmind-key", "_mmk", r"\b(\w{6}_\w{29}_mmk)"),
    ("softlayer-key", "softlayer.com/soap/", r"softlayer\.com/soap/(?:v\d+\.\d+/)?([0-9a-z]{64})"),
    ("thingsboard-token", "/api/v1/", r"thingsboard[\w.-]*/api/v1/([0-9a-z]{20})"),
    ("truenas-key", "login_with_api_key", r"login_with_api_key[^\]]{0,40}\"(\d+-[0-9A-Za-z]{64})\""),
    ("unseal-key", "Unseal", r"Unseal Key \d+: ([\w+/=]{40,})"),
    ("jenkins-password", "installation:", r"proceed to installation:\s+([0-9a-f]{32})"),
    ("sidekiq-key", "CONTRIBSYS__COM", r"CONTRIBSYS__COM\W{1,5}([0-9a-f]{8}:[0-9a-f]{8})"),
    ("artifactory-key", "artif",  r"artifactory\"?'?,\s*[\"']([0-9a-z]{64})"),
    ("otp-secret", "otpauth://", r"(?i)otpauth://[^\s\"'`<>]*[?&]secret=([A-Z2-7]{8,}=*)"),
    ("new-relic-key", "NRAL", rf"{KEY_START}((?:[a-z]{{2}}\d\dxx)?[0-9a-f]{{30,36}}NRAL)"),
    ("okta-token", "SSWS okta Okta OKTA", r"(?i)(?:okta[^\n]{0,60}?|SSWS\s+)[\s\"'`=:]((?-i:00[\w-]{40}))(?:[^\w-]|$)"),
    ("bitwarden-token", "==", rf"{KEY_START}(0\.{UUID}\.{ALNUM}{{20,}}:[\w+/]{{20,}}==)"),
    ("ghost-key", ":", rf"{KEY_START}([0-9a-f]{{24}}:[0-9a-f]{{64}}){KEY_END}"),
    ("fal-key", ":", rf"{KEY_START}({UUID}:[0-9a-f]{{32}}){KEY_END}"),
    ("generic-key", "_",
     rf"{KEY_START}([a-z][a-z0-9]{{1,15}}(?:_[a-z0-9]{{1,12}}){{0,2}}_{ALNUM}{{32,}}){KEY_END}"),
    ("password-argument", "Credential( DirectoryEntry(",
     r"(?:NetworkCredential|PSCredential|DirectoryEntry)\((?:\s*\"[^\"\n]*\",){1,2}\s*\"([^\"\n]+)\"\s*\)"),
)  # fmt: skip

# Personal data: a rule's check is the checksum or shape test that find.py applies to a match of the pattern.
LOCAL = r"[0-9A-Za-z\x80-\xff_.+%'-]"
DOMAIN = r"(?:[0-9A-Za-z\x80-\xff][0-9A-Za-z\x80-\xff-]*\.)+(?:xn--[0-9A-Za-z-]+|[A-Za-z\x80-\xff]{2,24})"
DIGITS = "0 1 2 3 4 5 6 7 8 9"
BEFORE, AFTER = r"(?:^|[^\w.+-])", r"(?:[^\w-]|$)"  # around a number: no letter or digit
EXTENSION = r"(?:,?\s?(?:ext|x)\.? ?\d{1,6})?"
PERSONAL = (
    ("email", "@", rf"({LOCAL}{{1,64}}@{DOMAIN})", "email"),
    ("email", "(at) [at]",
     rf"(?i)({LOCAL}{{1,64}} ?[(\[]at[)\]] ?(?:[0-9a-z-]+(?:\.| ?[(\[]dot[)\]] ?))+[a-z]{{2,24}})\b", ""),
    ("email", "mail", rf"(?i)\be-?mail(?:\s+\w+){{0,3}}:?\s+({LOCAL}+ ?(?:\(at\)|\[at\]| at ) ?{DOMAIN})", ""),
    ("card", "2 3 4 5 6",
     rf"{BEFORE}([2-6]\d{{12,18}}|[2-6]\d{{3}}[ .-]\d{{4}}[ .-]\d{{4}}[ .-]\d{{1,4}}(?:[ -]\d{{1,3}})?"
     rf"|3\d{{3}}[ -]\d{{6}}[ -]\d{{4,5}}){AFTER}", "card"),
    ("iban", DIGITS, r"\b([A-Z]{2}\d{2}(?:[ -]?[0-9A-Z]{1,4}){2,8})", "iban"),
    ("ssn", DIGITS, rf"{BEFORE}(\d{{3}}[-. ]\d{{2}}[-. ]\d{{4}}){AFTER}", "ssn"),
    ("ssn", "ssn SSN ocial", r"(?i)(?:ssn|social security)\D{1,20}(\d{9}|\d{3}-\d{6}|\d{5}-\d{4})\b", "ssn"),
    ("phone", "+",
     rf"(?:^|[^\w+])(\+[1-9]\d{{0,2}}[ .-]?(?:\(\d{{1,4}}\)[ .-]?)?\d{{1,5}}(?:[ .-]?\d{{1,7}}){{1,5}}{EXTENSION})",
     "phone"),
    ("phone", "- .",
     rf"{BEFORE}((?:1[ .-]?)?(?:\([2-9]\d\d\) ?|[2-9]\d\d[-.])\d{{3}}[-.]\d{{4}}{EXTENSION}){AFTER}", "phone"),
    ("phone", "(",
     rf"{BEFORE}((?:1 )?\([2-9]\d\d\) \d{{3}} \d{{4}}|\(\d\d\) ?9?\d{{4}}-\d{{4}}|[78] ?\(\d{{3}}\) ?\d{{3}}-\d\d-\d\d)"
     rf"{AFTER}", "phone"),
    ("phone", "00", rf"(?m)(?:^|[:(,;] ?)(00[1-9]\d{{0,2}}[ .-](?:\(0\))?\d{{1,4}}(?:[ .-]\d{{2,7}}){{1,4}}){AFTER}",
     "phone"),
    ("phone", "-", rf"{BEFORE}(0\d{{1,3}}-\d{{2,4}}-\d{{4}}){AFTER}", "phone"),
    ("phone", "hone el all obile ax",
     r"(?i)\b(?:phone|tel|call|mobile|cell|fax|whatsapp)[a-z ]{0,16}[:.]?\s*(\(?0\d{1,4}\)?(?:[ ./-]?\d{2,5}){2,5})",
     "phone"),
    ("phone", "hone el obil ax ell andy hatsapp ignal number",
     r"(?i)\b(?:t(?:e|\xe9)l(?:e|\xe9)(?:phone|fon[eo]?)|t(?:e|\xe9)l|phone|mobile?|fax|whatsapp|signal|cell|celular|handy"
     r"|call me|(?:my|our|his|her) number)[a-z ]{0,16}[:.#]?\s*(\+?\(?[1-9]\d{1,3}\)?[ .-]?\d{3,5}[ .-]?\d{4,7})\b",
     "phone"),
    ("phone", "01 07", rf"{BEFORE}(01[5-7]\d[ /-]\d{{7,8}}|07\d{{3}} \d{{6}}){AFTER}", "phone"),
    ("ip-address", ".", r"(?:^|[^\w.-])(\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3})(?:[^\w.-]|\.(?:\s|$)|$)", "ip"),
    ("ip-address", ":",
     r"(?:^|[^\w:.])((?:[0-9A-Fa-f]{1,4}:){2,7}(?::|[0-9A-Fa-f]{1,4}|(?::[0-9A-Fa-f]{1,4}){1,6}))(?:[^\w:]|$)", "ip"),
)  # fmt: skip

# Checks of rules for keys, such as randomness for common prefixes. Without a check, only fillers are rejected.
CHECKS = {
    "openai-key": "random", "hugging-face-token": "random", "slack-token": "digit", "notion-token": "random",
    "artifactory-key": "short", "facebook-token": "random", "lob-key": "random", "gocardless-token": "random",
    "fireworks-key": "random", "voyage-key": "random", "mandrill-key": "random", "tencent-key": "random",
    "kubernetes-bootstrap-token": "digit", "crates-token": "random", "firebase-key": "random",
    "yandex-token": "random", "mollie-key": "random", "vault-legacy-token": "random", "modal-token": "random",
    "brave-key": "random", "statsig-key": "random", "checkout-key": "random", "google-hmac-key": "random",
    "backblaze-key": "random", "coze-token": "random",
    "databento-key": "random", "baidu-key": "random", "generic-key": "generic", "mem0-key": "random",
    "otp-secret": "no-placeholder",
}  # fmt: skip

PREFIX_RULES = tuple(
    Rule(name, tuple(literals.split()), KEY_START + pattern, check=CHECKS.get(name, ""))
    for name, literals, pattern in PREFIXED
)
SHAPE_RULES = tuple(
    Rule(name, tuple(literals.split(" ")), pattern, check=CHECKS.get(name, ""))
    for name, literals, pattern in SHAPED
)
PERSONAL_RULES = tuple(
    Rule(name, tuple(literals.split(" ")), pattern, True, check)
    for name, literals, pattern, check in PERSONAL
)

# A rule without a known prefix is tried only if one of its literals occurs in the text.
LITERALS = tuple(
    sorted({literal for rule in (*SHAPE_RULES, *PERSONAL_RULES) for literal in rule.literals})
)

# Rules in code, not in a single pattern: see assigned.py, multiline.py and tables.py.
CODE_RULES = tuple(
    Rule(name)
    for name in (
        "private-key",
        "password",
        "secret",
        "url-password",
        "authorization",
        "kubernetes-secret",
    )
)

RULES = {rule.name: rule for rule in (*PREFIX_RULES, *SHAPE_RULES, *PERSONAL_RULES, *CODE_RULES)}
