"""Reasons why a memory is not injected: codes to decide by, and the sentence of each."""

from __future__ import annotations

from ..model.record import record

WHY_NOT = {  # code of a Reason → its sentence
    "withdrawn": "voted harmful: {} votes, against {} for it",
    "voted-harmful": "voted harmful: similarity alone does not bring it",
    "nothing-fired": "no whenToUse condition fired",
    "not-similar": "similarity {:.2f} is below the profile's {:g}",
    "not-confident": "not relevant enough: confidence {:.2f}, {:g} is needed",
    "unsure-lesson": "a lesson of confidence {}: {:g} is needed",
    "old-lesson": "a lesson of {} days ago: they are kept for {} days unless somebody confirms them",
    "weak-source": "it was made from {}, which is {}",
    "crowded-out": "so many memories share something with the task that only the best of them are weighed",
    "outdated": "superseded by a newer memory? {} says otherwise: 'rawkomem conflicts' shows both",
    "full": "only {} are injected",
    "unimportant": "importance {} is below {}",
    "twin": "says the same as {}",
    "vouched-twin": "says the same as {}, for which a person vouches",
    "unverified": "unverified ({}): commit it or run 'rawkomem review {} --activate'",
    "told": "the session was given it before, and its context was not compacted since",
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
        """Return the reason for people."""
        return WHY_NOT[self.code].format(*self.values)
