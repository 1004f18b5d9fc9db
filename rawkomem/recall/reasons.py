"""Define the reasons why a memory is not injected: a code for programs, and a sentence for people."""

from __future__ import annotations

from ..model.record import record

WHY_NOT = {  # code of a Reason → its sentence
    "withdrawn": "voted harmful: {} harmful votes, {} helpful",
    "voted-harmful": "voted harmful: similarity alone is not enough",
    "nothing-fired": "no whenToUse condition fired",
    "not-similar": "similarity {:.2f} is below the profile's {:g}",
    "not-confident": "not relevant enough: confidence {:.2f}, {:g} is needed",
    "unsure-lesson": "the lesson has confidence {}: {:g} is needed",
    "old-lesson": "the lesson was stored or confirmed {} days ago: lessons are injected for {} days",
    "weak-source": "it was made from {}, which is {}",
    "crowded-out": "too many memories share something with the task: only the best of them are scored",
    "outdated": "superseded by a newer memory? {} contradicts it: 'rawkomem conflicts' shows both",
    "full": "only {} are injected",
    "unimportant": "importance {} is below {}",
    "twin": "says the same as {}",
    "vouched-twin": "says the same as {}, for which a person vouches",
    "unverified": "unverified ({}): commit it or run 'rawkomem review {} --activate'",
    "told": "the session received it before, and its context was not compacted since",
    "over-budget": "needs {} tokens, {} are left",
    "not-in-use": "{}",
}


@record
class Reason:
    """Why a memory is not injected: a code, and the values of its sentence."""

    code: str
    values: tuple[object, ...] = ()

    @property
    def sentence(self) -> str:
        """Return the reason as a sentence for people."""
        return WHY_NOT[self.code].format(*self.values)
