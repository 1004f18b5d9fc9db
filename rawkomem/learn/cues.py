"""What makes a sentence worth remembering: cues by kind, as data. And what makes one not worth it, whatever it says.

All patterns are our own, without nested repetition, and meet single sentences of bounded length.
"""

from __future__ import annotations

import re

from ..model.record import record
from .turns import ASSISTANT, USER


@record
class Kind:
    """A kind of thing to remember: how it is filed, and who can say it."""

    type: str  # Memory Lane's
    category: str  # neolata's
    importance: str
    tag: str
    roles: tuple[str, ...] = (USER, ASSISTANT)


KINDS = {
    "correction": Kind("correction", "preference", "high", "correction", (USER,)),
    "decision": Kind("decision", "decision", "high", "decision"),
    "preference": Kind("commitment", "preference", "medium", "preference", (USER,)),
    "commitment": Kind("commitment", "task", "medium", "commitment"),
    "fix": Kind("insight", "finding", "high", "error"),
    "dependency": Kind("learning", "fact", "medium", "dependencies"),
    "constraint": Kind("gap", "finding", "high", "constraint"),
    "convention": Kind("pattern_seed", "fact", "medium", "convention"),
    "workflow": Kind("workflow_note", "fact", "medium", "workflow"),
    "structure": Kind("learning", "fact", "medium", "codebase-structure"),
}


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns), re.IGNORECASE)


# Words that several cues need.
PATH = r"(?:\b(?!and/)[\w@.-]+/(?:[\w@./*-]*\w)?|\b[\w-]+\.(?:py|tsx?|jsx?|mjs|go|rs|rb|java|kt|sql|ya?ml|toml|json|sh|css|md|conf|tf)\b)"
VERSION = r"(?:[A-Za-z@][\w./@+-]*(?: API| LTS)? (?:v|version )?\d+(?:\.\d+)*(?:\.x)?\b)"
TROUBLE = (
    r"(?:fail(?:s|ed|ing|ure)?|errors?|bugs?|broke|broken|breaks|crash(?:ed|es)?|leak(?:ed|s|ing)?|flaky|race|slow|hangs?|hung"
    r"|time-?outs?|timed out|exceptions?|5\d\ds?|problem|issue|drops?|dropped|lost|stale|wrong|missing|deadlock|conflicts?"
    r"|\w+(?-i:Error|Exception)\b|(?-i:\bE[A-Z]{4,})|could not|cannot|can't|exhausted|ignored|corrupt(?:ed)?|regression|saw|rejected|refused|denied|mismatch(?:es)?|OOM|killed|kills|never ran)"
)
CAUSE = (
    r"(?:because|caused by|due to|root cause|came from|comes? from|the (?:reason|cause|culprit)|which is why|turned out|turns out"
    r"|stems? from|was that|since|boils? down to)"
)
REMEDY = _any(
    r"\b(?:fixe[ds]|solve[ds]|resolve[ds]|the (?:fix|solution|remedy) (?:was|is)|frees|cures?|helped|works around|cut (?:it|them|the))\b"
)
RULE = r"(?:must(?: not| never)?|has to|have to|should (?:always|never)|needs? to|always|never|are|is|has|have|returns?|lives?|uses?|inherits?|starts?|ends?|goes?|gets?)"
USES = (
    r"(?:requires?|needs?|depends? on|pin(?:s|ned)?|runs? on|runs|uses?|ships? with|must (?:stay|be)|stay(?:s)? (?:on|below)"
    r"|incompatible|targets?|supports?|built (?:with|against)|compatible with|upgraded? to|locked (?:to|at))"
)
LIES = (
    r"(?:lives?|(?:is|are) (?:in|under|defined|registered|loaded|split|located|kept|stored|generated|read|scheduled|declared|wired)"
    r"|goes? through|go through|holds?|contains?|entry point|located|wires?|monorepo|resides?)"
)

CUES: dict[str, re.Pattern[str]] = {
    "correction": _any(
        r"^(?:no|nope|nah)\b[,.!:;\s–—-]+\S.{12,}",
        r"^(?:that(?:'s| is)|this is|it's) (?:wrong|not right|incorrect|not (?:how|what|the way)) ?.{8,}",
        r"^(?:actually|wrong)\b.*\b(?:not|instead of|never|is called|are called)\b",
        r"^(?:please )?(?:don't|do not|stop) (?!worry|bother|forget|hesitate|need|touch|ask)\w+ (?:\S+ ){2,}\S+",
        r"\byou should(?:n't| not)? have\b|\byou keep \w+ing\b",
        r"\b(?:is|are) (?:called|named) \S+, not\b|^(?:it's|that's|this is) not an? \w+, \S.{12,}|^that's the wrong \w+, \S.{12,}",
        r"\bwe (?:don't|do not|never) (?:use|do|have|want|need|write|put) .*(?:\bhere\b|\bin this\b|, use\b)",
        r"\bi(?: have|'ve)? (?:told|said|asked) (?:you )?(?:this |that )?(?:before|already|twice)\b",
        r"^(?:please )?use \S.{0,60}?,? (?:not|instead of|rather than)\b",
        r"^(?:undo|revert) (?:that|this)\b.*\b(?:we|because|never)\b",
    ),
    "decision": _any(
        r"\b(?:we|i|they|the team|the group)(?:'ve| have)? (?:finally |all |now )?(?:decided|agreed|chose|settled|opted|picked|voted"
        r"|standardi[sz]ed|went with|committed to)\b",
        r"^(?:final )?(?:decision|decided|agreed|final call|verdict|resolution|ruling)\s*[:–—-]",
        r"(?<!once )(?<!until )(?<!when )(?<!if )\b(?:let's|we'll|we will|we are going to|we're going to|we) (?:just )?(?:go with|use|keep|stick (?:with|to)|switch to"
        r"|move to|adopt|drop)\b(?! going| (?:the|that|this) (?:second|first|other|wrong)\b| it\b)",
        r"\bwe(?:'re| are) (?:going|sticking|staying) with\b",
        r"^(?:going forward|from now on|from here on|as agreed|as decided)\b",
        r"^(?:ok(?:ay)?,? )?agreed[,:].{12,}",
        r"\bi(?:'ve| have)? (?:chose|chosen|picked|decided (?:on|against))\b.*\b(?:because|over|instead|since|rather)\b",
        r"^(?:decided|agreed) (?:to|on|against)\b",
        r"\b(?:the|our) (?:outcome|conclusion|consensus|agreement) (?:is|was)\b|\bper (?:your|our|the) decision\b|\bsettles it\b",
        r"\bi want us to \w+",
    ),
    "preference": _any(
        r"\b(?:i|we)(?:'d| would)? (?:much |really |strongly |generally )?(?:prefer|rather have)\b",
        r"\bmy preference\b",
        r"\bi'd like (?!you\b|to\b|an? \b|the\b|it\b|this\b|that\b)\w+|\bi(?:'d| would) always (?:take|use|choose|pick)\b",
        r"^(?:please )?(?:don't|do not) ask (?:me )?(?:before|for|whether)\b",
        r"^keep \w+ (?:under|below|short|small|free|in)\b.{8,}",
        r"\bi (?:really )?(?:like|love|hate|dislike|don't like|do not like|can't stand)\b (?!that you|how you|it\b|this\b)",
        r"^(?:and |but |please )*(?:always|never) (?!good|nice|mind|ending)\w+ ",
        r"\bi (?:always |only |never )?want (?!you\b|to\b|it\b|this\b|that\b)",
        r"^please (?:keep|avoid)\b",
    ),
    "commitment": _any(
        r"\b(?:i|we)(?:'ll| will| shall) (?:always |never |personally )?(?:keep|review|support|maintain|make sure|ensure|stop|migrate"
        r"|remove|replace|deliver)\b.*\b(?:until|before|every|each|once|by|as long as|after|whenever)\b",
        r"\bwe(?:'ve| have)? promised\b|\bi(?:'ve| have)? promised?\b",
        r"\b(?:we|i) (?:have|need) to (?:ship|deliver|finish|release|remove|migrate)\b.*\b(?:before|by|until)\b",
        r"^(?:todo|follow-up|action item)\b[^:]{0,30}:.{12,}",
    ),
    "fix": _any(
        rf"{TROUBLE}\b.*\b{CAUSE}\b",
        rf"\b{CAUSE}\b.*\b{TROUBLE}",
        rf"\b(?:root cause|the culprit)\b",
        rf"^(?:it )?turn(?:ed|s) out\b.{{20,}}",
        rf"^fixed:.*\b{CAUSE}\b",
    ),
    "constraint": _any(
        r"\b(?:does not|doesn't|do not|don't|did not|cannot|can't|can not|won't) (?:support|allow|accept|handle|exceed|upgrade|be|run"
        r"|leave|scale|guarantee|work)\b",
        r"\bnot (?:allowed|permitted|possible|supported)\b|\bnothing (?:may|must|can)\b|\b(?:legal|compliance|security) requirement\b",
        r", so .{3,60} must \w+|\b(?:has|have) to (?:keep|stay|be|fit|work) .*\b(?:at least|at most|under|below|within|offline)\b",
        r"\b(?:limit|maximum|quota|cap) (?:of|is)\b|\blimited to\b",
        r"\bonly (?:retries|allows|supports|works|accepts|runs|keeps|returns|sends|lets)\b",
        r"\bmust (?:never|not) (?:leave|exceed|be|store|contain|block)\b|\bmust never\b",
        r"\b(?:allows|permits) (?:at most |only |up to )?[\d,]+",
        r"\bmust (?:answer|respond|finish|complete|stay|fit|be done) (?:with)?in\b",
        r"\bhas no (?:support|look|way|concept|notion)\b|\bis built without\b",
    ),
    "dependency": _any(rf"\b{USES}\b.*{VERSION}", rf"{VERSION}.*\b{USES}\b", r"\bpin(?:ned)? \S+ (?:to|at|below)\b"),
    "workflow": _any(
        r"^(?:to|before|after|whenever|when)\b.*\b(?:run|use|call|execute|need to)\b.*(?:`[^`]+`|[\w./-]+\.(?:sh|py|mjs)\b)",
        r"^(?:after|before|when|whenever) .*\b(?:you|we) (?:have to|need to|must|should) (?:run|call|execute|update|regenerate)\b",
        r"\bneeds? `[^`]+` (?:first|to|before|up|running)\b",
        r"^(?:always )?run `[^`]+` (?:after|before|when|whenever|first|each|every|to)\b",
        r"\b(?:is|are) (?:reset|updated|regenerated|generated|built|deployed|started|released|run|created) (?:with|by|via) `[^`]+`",
        r"\b(?:deploys?|releases?|builds?|migrations?) (?:is|are) (?:triggered|started|run|done) (?:by|with|via|from)\b",
    ),
    "convention": _any(
        rf"^(?:in (?:this|our|the) \w+,? )?(?:all|every|each|any) [\w.-]+(?: [\w.-]+){{0,6}} {RULE}\b",
        r"\b(?:by convention|our convention|the convention|naming convention|follows? the (?:pattern|convention|scheme))\b",
        r"\bwe (?:always|never|usually) \w+|\bwe (?:name|call|put|store|prefix|group) .* (?:like|in|into|under|as|with|by|next to)\b",
        r"^(?:each|every) [\w.-]+(?: [\w.-]+)? (?!has been|was)\w+s (?!in \d)",
        r"\b(?:is|are) (?:mandatory|required) for (?:all|every|each)\b|\b(?:is|are) not used anywhere\b",
        rf"^(?!i\b|you\b|it\b|this\b|that\b|we\b|they\b)[\w.\s-]{{3,40}} (?:must|have to|has to) (?:inherit|start|end|be|have|use|go|live|follow|extend|implement|return)",
        r"\b(?:codebase|project|repo|repository) (?:uses|follows|has|keeps)\b",
        r"\b(?:mirrors?|(?:is|are) (?:named|written in|prefixed|suffixed|upper ?case|lower ?case))\b",
    ),
    "structure": _any(rf"\b{LIES}\b.*{PATH}", rf"{PATH}.*\b{LIES}\b"),
}  # fmt: skip

# In this order the first cue that is found names the kind: the more telling come first.
ORDER = tuple(KINDS)

# --- what to skip

QUESTION = _any(
    r"\?[\"')\]]*$",
    r"^(?:can|could|would|will|should|shall|do|does|did|is|are|was|were|have|has|may) (?:you|we|i|it|this|that|they|there|the)\b",
    r"^(?:why|what|who|where|which|how)\b",
)
HYPOTHETICAL = _any(
    r"\b(?:maybe|perhaps|might|probably|possibly|not sure|don't know|no idea|i think|i guess|i suppose|i suspect|i wonder|seems?"
    r"|looks like|could be|(?:it|this|that) may be|imagine|suppose|what if|hypothetically|in theory)\b",
    r"^if (?:we|i|you|they)\b",
    r"\b(?:you|we|i) could\b|\bone option\b|\b(?:two|three|several|some) (?:ways|options)\b|\b(?:would|it'd) be (?:nice|great|good)\b",
    r"\bwe should (?:probably|look|consider|think|discuss)\b",
)
PASSING = _any(
    r"\b(?:tomorrow|today|tonight|in (?:an|a few|one) (?:hour|minute|moment)s?|right now|this session|this time|some day"
    r"|at some point|be back|see you|for the moment|workaround for now|let me check|we will see|we'll see)\b",
    r"\b(?:yet|first|again|next|now)[.!]?$",
    r"\b(?:console\.log|print statement|debug (?:value|output|print)|temporary|/tmp/|typo)\b",
    r"\bline \d+\b",
)
NARRATION = _any(
    r"^(?:(?:ok|okay|now|next|first|then|so|and|great|perfect|good|alright|done|yes|sure)[,!.: ]+)*(?:let me|let's (?:see|run|check|look|try|start"
    r"|read|test|do|have|find|decide)|here(?:'s| is| are)|i see\b|you're right|sorry|thanks|running|checking|looking|reading|done\b)",
    r"^(?:(?:now|next|first|then|so|and|great|ok|okay)[,!.: ]+)*i(?:'ll| will|'m going to| am going to| need to| have| had|'ve| just)? (?:now |also )?"
    r"(?:add|update|remove|use|used|read|rename|run|ran|check|look|start|try|create|write|fix|test|move|implement|go with|go ahead"
    r"|updated|added|removed|renamed|created|fixed|moved|tested|tried|implemented|made|found|be back)\b",
    r"\bi decided to (?:look|check|read|run|start|try|see|first|begin)\b",
    r"^(?:the user|user) (?:wants|asked|said)\b|^i(?:'m| am) (?:seeing|getting|now|still|reading|looking|running|checking)\b",
    r"^i want you to\b|^i want to (?:know|see|understand)\b|^i'd rather (?:look|see|check|wait|read)\b|^i prefer not to\b",
    r"\blet's go with it\b|^that failed because i\b|^i have to go\b|^do not worry\b|^don't worry\b",
    r"^(?:please )?(?:add|rename|open|show|fix|commit|push|continue|undo the|read|look|explain|write|create|implement|remove|update) \w+",
)
OUTPUT = _any(
    r"^\s*(?:\$|>>>|>|%|#!) ?\S",
    r"^\s*\d{4}-\d\d-\d\d[T ]\d\d:\d\d",
    r"^\s*(?:npm (?:warn|err)|warning:|error:|traceback|at \S+ \(|file \"|pass |fail |\[(?:info|warn|error|debug)\]|(?-i:INFO|WARN|ERROR|DEBUG|FATAL)\b)",
    r"^[\W\d_]+$",
    r"\"[^\"]*\b(?:error|warning)\b[^\"]*\"",
)
SKIPS = (
    ("output", OUTPUT),
    ("question", QUESTION),
    ("hypothetical", HYPOTHETICAL),
    ("passing", PASSING),
    ("narration", NARRATION),
)

# --- what raises or lowers a score

REASON = _any(r"\b(?:because|since|so that|as it|in order to|otherwise|therefore|which is why)\b|, so\b|; ")
CONTRAST = _any(r"\b(?:instead of|rather than|not|never|over|no longer|in favou?r of)\b")
SPECIFIC = re.compile(
    r"`[^`]+`|\b[A-Z][a-z0-9]+[A-Z]\w*|\b[A-Z]{2,}\b|\b\w+_\w+|\b\w+[./-]\w+|\d|(?<=[a-z,;] )[A-Z][a-z]+", re.ASCII
)
VAGUE = _any(
    r"^(?:it|this|that|these|those|they|he|she|there|something|thing)\b", r"\b(?:stuff|things?|somehow|something)\b"
)
SHORT_NO = _any(
    r"^(?:no|nope|wrong|stop|not like that|that's wrong|that's not right|not quite|not what i (?:meant|asked))\W*$"
)
