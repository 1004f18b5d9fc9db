"""English."""

from __future__ import annotations

from ..language import Language, porter_stems, word_set

# Common short forms of words, as stems.
SHORT_FORMS = {
    "admin": "administr", "async": "asynchron", "auth": "authent", "authn": "authent", "config": "configur",
    "db": "databas", "dep": "depend", "dir": "directori", "doc": "document", "env": "environ", "js": "javascript",
    "k8": "kubernet", "lib": "librari", "msg": "messag", "param": "paramet", "perf": "perform", "pkg": "packag",
    "py": "python", "repo": "repositori", "ts": "typescript",
}  # fmt: skip

LANGUAGE = Language(
    code="en",
    stemmer=porter_stems,
    # Single letters, "ll" and "ve" are the ends of words like "don't" and "we'll".
    stop_words=word_set(
        """
        a about above after again against all also although always am an and any anyone anything are around as at be
        because been before being below between both but by can cannot could d did do does doing don done down during
        each either else etc even ever every few for from further get gets getting go goes going got had has have having
        he hence her here hers herself him himself his how however i if in instead into is isn it its itself just kind
        let like ll m many may me might mine more most much must my myself need needed needs neither never no nor not
        nothing now of off often on once one only onto or other others our ours ourselves out over own per please quite
        rather re really s same shall she should since so some someone something sometimes still such t than that the
        their theirs them themselves then there these they this those though through thus to together too under unless
        until up upon us usually ve very via want wants was way we well were what when whenever where whether which
        while who whom whose why will with within without would yes yet you your yours yourself
        """
    ),
    generic_words=word_set(
        """
        add adding allow also answer app application approach area ask assist available based basic begin best better
        build call case certain change check code come common consider content context create current data day deal
        decide detail develop different easy ensure example existing explain feature file find first fix follow general
        gave give given good handle happen help implement important improve include information interest involve issue
        item keep know last learn list long look lot made main make manage mention modify month name new next number old
        open part people person place possible problem process project proper provide put question read recommend relate
        request require result right run said say see select set show similar simple solve specific start step stop
        suggest support system take talk task tell text thank thing think time today tool touch try turn type understand
        update use user various week word work write written wrong wrote year
        """
    ),
    short_forms=SHORT_FORMS,
    negations=word_set("no not never none without cannot dont doesnt isnt wont avoid"),
    openers=word_set("when whenever if while before after once during upon where"),
    exceptions=(" unless ", " except ", " but not ", " not for ", " not when "),
    alternative="or",
    abbreviations=(
        "e.g.",
        "i.e.",
        "etc.",
        "vs.",
        "cf.",
        "resp.",
        "approx.",
        "dr.",
        "mr.",
        "mrs.",
        "no.",
        "fig.",
    ),
)
