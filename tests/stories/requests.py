"""Requests that a person may make after a correction was kept. They were written before the conditions were measured."""

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
# Corrections of other kinds: what was said, later requests that it is about, and requests that only share a word with it.
# They, too, were written before the conditions were measured.
NARROW = {
    "proddb": (
        "no, never run the tests against production, use the docker database",
        (
            "run the tests",
            "run the integration tests for orders",
            "which database do the tests use?",
            "set up the test database",
            "rerun the failing test suite",
        ),
        (
            "fix the typo in the production notice",
            "add a column for the nickname to the users table",
            "write a dockerfile for the worker",
            "why is production slow today?",
            "document the release process",
        ),
    ),
    "moment": (
        "don't use moment, use date-fns because it is smaller and the bundle is already too big",
        (
            "parse the date in the import form",
            "add a date picker",
            "replace moment in utils.ts",
            "which date library do we use?",
            "install moment for the calendar",
        ),
        ("reduce the bundle size", "bundle the assets", "add a smaller logo", "install zod", "fix the failing build"),
    ),
    "squash": (
        "always squash commits before merging a branch, otherwise the changelog gets unreadable",
        (
            "merge the branch feature/login",
            "squash this and merge",
            "merge the pull request",
            "get this branch into main",
            "commit this and merge it",
        ),
        (
            "add an entry to the changelog",
            "add a branch office field to the form",
            "explain how git bisect works",
            "make the error message more readable",
            "write a cherry recipe page for the demo shop",
        ),
    ),
    "controllers": (
        "don't put business logic in the controllers, it belongs in services/",
        (
            "add a controller for refunds",
            "add logic to the OrderController",
            "move the discount calculation out of the controllers",
            "where should the business logic of refunds go?",
            "write a service for invoices in services/",
        ),
        (
            "restart the billing service",
            "fix the CSS of the order list",
            "write a test for the login form",
            "translate the business plan page",
            "run the migrations",
        ),
    ),
    "comments": (
        "please stop adding comments to every line, only comment what is surprising",
        (
            "add code comments to scheduler.py",
            "comment the tricky parts of scheduler.py",
            "explain the parser with comments",
            "add comments where the code is not obvious",
            "remove the useless comments in utils.ts",
        ),
        (
            "delete the spam in the blog database",
            "ship it to production",
            "add a line chart to the dashboard",
            "deploy the app",
            "install lodash",
        ),
    ),
    "deploy": (
        "no, the staging deploy goes through ./bin/deploy, never kubectl by hand",
        (
            "deploy to staging",
            "roll out the new version",
            "deploy the hotfix",
            "run kubectl apply for the api",
            "ship this to staging",
        ),
        (
            "what is staged in git?",
            "edit the README by hand",
            "add a token to the config",
            "list the binaries in bin",
            "write the release notes",
        ),
    ),
    "logging": (
        "use structured logging with logger.info, not print, since our log collector drops plain lines",
        (
            "add logging to the importer",
            "add a print statement to see the rows",
            "log when a payment fails",
            "use logger.info in the scheduler",
            "replace the print statements in worker.py",
        ),
        (
            "print the invoice as a PDF",
            "collect the e-mail addresses of all customers",
            "sort the lines in the csv",
            "log in as admin and check the menu",
            "fix the crash in the login form",
        ),
    ),
    "migrations": (
        "don't touch migrations that are already merged, write a new migration instead",
        (
            "add a column nickname to the users table",
            "fix the typo in migration 0042",
            "write a migration for the new index",
            "rename the table accounts",
            "the migration fails on postgres",
        ),
        (
            "query the number of users",
            "merge my branch",
            "write a new blog post",
            "style the table on the pricing page",
            "set the db password in the env file",
        ),
    ),
    "keys": (
        "API keys never go into the code, read them from the environment",
        (
            "add the Stripe API key",
            "connect the mail provider with our API token",
            "where do the credentials go?",
            "add the password for SMTP",
            "read the secret from the vault",
        ),
        (
            "make the config page prettier",
            "press the key F5 to refresh",
            "refactor the code of the parser",
            "change the primary key of orders",
            "tokenize the search query",
        ),
    ),
    "english": (
        "in this repo we write commit messages in English, not German, because half the team does not read German",
        (
            "commit this",
            "write a commit message",
            "commit and push",
            "amend the last commit",
            "what should the commit message say?",
        ),
        (
            "translate the welcome mail to German",
            "push the deadline to Friday",
            "invite the team to the retro",
            "which branch am I on?",
            "read the config file",
        ),
    ),
}
