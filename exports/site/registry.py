"""The types of pages of a site, in the order in which they are written and stand in the menu."""

from __future__ import annotations

from exports.site.pages import (
    audit,
    compare,
    items,
    judges,
    model,
    openclaw,
    overview,
    palindrome,
    parting,
    posters,
    run,
    samples,
    suite,
    task,
    trial,
)

PAGE_TYPES = (
    overview.PAGE_TYPE,
    model.PAGE_TYPE,
    compare.PAGE_TYPE,
    run.PAGE_TYPE,
    samples.PAGE_TYPE,
    suite.PAGE_TYPE,
    items.PAGE_TYPE,
    task.PAGE_TYPE,
    trial.PAGE_TYPE,
    parting.PAGE_TYPE,
    posters.PAGE_TYPE,
    openclaw.PAGE_TYPE,
    palindrome.PAGE_TYPE,
    judges.PAGE_TYPE,
    audit.PAGE_TYPE,
)
