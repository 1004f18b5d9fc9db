"""Requests that a person may make after a correction was kept. They were written before the conditions were measured."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Correction:
    """What a person said, the requests in which it may have been said, and later requests for the same kind of work."""

    said: str
    requests: tuple[str, ...]
    later: tuple[str, ...]


RULE = "Never run bare pytest here, use make suite"  # what a memory says of TESTS
TESTS = Correction(
    "no, never run bare pytest here, use make suite",
    ("run the tests", "fix the date parser and run the tests", "add a retry to the http client"),
    (
        "run the tests",
        "does everything still pass?",
        "check that nothing broke",
        "execute the suite",
        "make sure the tests are green",
        "run the unit tests for the parser",
        "can you verify that this works with the test suite?",
        "add a test for the date parser and run it",
        "are there any failing specs?",
        "rerun the checks and tell me what fails",
    ),
)
FILE = Correction(
    "don't edit generated/schema.ts, change schema.graphql instead",
    ("add a nickname to users",),
    (
        "add a nickname field to the schema",
        "edit generated/schema.ts",
        "update schema.ts with the new User type",
        "the generated types are missing the email field",
        "change the GraphQL schema so that posts have tags",
        "rename the type Account to Customer in the schema",
        "regenerate the types",
        "add a mutation for deleting a post to the graphql api",
        "make the field title optional in the generated code",
        "fix the type error in generated/schema.ts",
    ),
)
TOOL = Correction(
    "use pnpm, not npm",
    ("add lodash to the project",),
    (
        "install lodash",
        "add zod as a dependency",
        "install the dependencies",
        "upgrade react to 19",
        "which packages are outdated?",
        "set up the project on a fresh checkout",
        "start the dev server",
        "run the build script",
        "remove the moment package",
        "update the lockfile",
    ),
)
STYLE = Correction(
    "no default exports",
    ("add a component for the price tag",),
    (
        "add a Button component",
        "create a module for date helpers",
        "export parseDate from dates.ts",
        "write a React hook for the window size",
        "split utils.ts into two files",
        "convert the default exports in src/pages",
        "import Button from the new file",
        "add a class for the API client",
        "refactor the settings page into smaller components",
        "write a function that formats prices",
    ),
)
CORRECTIONS = {"tests": TESTS, "file": FILE, "tool": TOOL, "style": STYLE}
UNRELATED = (
    "what does the README say about licensing?",
    "explain how the login flow works",
    "summarize the discussion in this thread",
    "translate the welcome mail to German",
    "why is the checkout page slow on mobile?",
    "thanks, that looks good",
    "write the release notes for 2.1",
    "draft a reply to the customer about the refund",
    "what time zone does the cron job use?",
    "draw a diagram of the services",
    "how many users signed up last week?",
    "commit this with a short message",
    "rotate the API key of the mail provider",
    "who owns the billing service?",
    "increase the memory limit of the worker",
    "the logo is blurry on retina screens",
    "rename the branch to feature/login",
    "compare redis and memcached for our sessions",
    "set the cache header to one hour",
    "fix the typo in the footer",
)
