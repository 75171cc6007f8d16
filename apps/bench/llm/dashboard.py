"""The page of all runs in a database."""


class DashboardError(Exception):
    """A page that can't be made; the message says why."""


def write(connection, out, run, say):
    say("the results are in the database; there is no page yet")
