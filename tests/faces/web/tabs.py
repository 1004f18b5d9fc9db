"""A browser tab for the tests of the page."""

SOON = 20_000  # milliseconds: a busy machine
DRAWN = ".canvas[data-ready=true]"  # the graph, once nothing moves any more


class Tab:
    """A tab that watches itself: what it asked for, what it complained about, what popped up."""

    def __init__(self, browser, server, **look):
        self.server = server
        self.origin = f"http://127.0.0.1:{server.door.port}/"
        self.page = browser.new_context(
            viewport={"width": 1280, "height": 800}, reduced_motion="reduce", **look
        ).new_page()
        self.page.set_default_timeout(SOON)
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type == "error" else None)
        self.page.on("dialog", lambda dialog: (self.complaints.append(f"dialog: {dialog.message}"), dialog.dismiss()))

    def open(self, view: str = ""):
        self.page.goto(self.server.address)
        self.page.wait_for_selector(".list a, .list .state:not(.loading)")
        if view:
            self.go(view)
        return self.page

    def go(self, view: str) -> None:
        self.page.evaluate("view => { location.hash = view }", view)

    def focused(self) -> str:
        return self.page.evaluate(
            "document.activeElement.innerText || document.activeElement.getAttribute('aria-label') || ''"
        )

    def until_focused(self, words: str) -> None:
        """Wait until the focused element begins with some words."""
        self.page.wait_for_function(
            "words => (document.activeElement.innerText || document.activeElement.ariaLabel || '').startsWith(words)",
            arg=words,
        )

    def hold(self, question: str) -> list:
        """Answers to a question wait in this list until `let_go`; it holds those that were asked for so far."""
        held: list = []

        def wait(route) -> None:
            held.append(route)

        self.page.route(f"**/api/{question}*", wait)
        return held

    def let_go(self, held: list) -> None:
        for route in held:
            route.continue_()
        held.clear()

    def until_asked(self, held: list) -> None:
        for _ in range(SOON // 20):
            if held:
                return
            self.page.wait_for_timeout(20)
        raise AssertionError("nothing was asked")

    def check(self) -> None:
        assert self.complaints == []
        assert [url for url in self.asked if not url.startswith(self.origin)] == []
