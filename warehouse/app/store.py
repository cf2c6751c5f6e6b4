"""The store of `evalstore.open`: with previews of queries, recorded runs and charts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warehouse.core.errors import EvalstoreError
from warehouse.engine.base_store import BaseStore
from warehouse.engine.query import Query, query_errors

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import altair as alt

    from warehouse.app.recording.recording import Recording
    from warehouse.engine.rows import Rows

# What few callers need is imported in the functions that use it.


class Store(BaseStore):
    """A folder of evaluations."""

    def sql(self, query: str, parameters: Mapping[str, object] | None = None) -> PreviewedQuery:
        """Prepare a query; it runs when its rows are fetched, on the content of that moment.

        Args:
            query: any DuckDB query; values are bound as `$name`.
            parameters: the values, by name.
        """
        return PreviewedQuery(self.reading, query, parameters)

    def record(
        self,
        *,
        suite: str,
        model: str,
        task_set: str | None = None,
        settings: Mapping[str, object] | None = None,
        config: Mapping[str, object] | None = None,
        run_id: str | None = None,
    ) -> Recording:
        """Record a run of your own: `with store.record(suite=…, model=…) as run: run.log(…)`.

        Args:
            suite: name of the suite that the results belong to.
            model: name of the model.
            task_set: name of the task set; by default, that of the suite.
            settings: parameters of the calls, such as the temperature; models with other settings
                are compared as other models.
            config: anything else to keep with the run.
            run_id: ID of the run; with that of an earlier recording, it is continued. By default, a
                new run.

        Raises:
            BadInput: an argument cannot be used.
        """
        from warehouse.app.recording.recording import Recording

        return Recording(
            self,
            suite=suite,
            model=model,
            task_set=task_set,
            settings=settings,
            config=config,
            run_id=run_id,
        )

    def chart(
        self,
        name: str,
        *,
        suite: str | None = None,
        task_set: str | None = None,
        metric: str | None = None,
    ) -> alt.VConcatChart:
        """Return a chart for notebooks: `store.chart("leaderboard", suite="palindrome")`.

        Args:
            name: leaderboard, history, costs, latency, difficulty or heatmap.
            suite: only this suite.
            task_set: only this task set.
            metric: this metric; by default the main one of each task set.

        Raises:
            BadInput: there is no such chart, or it has nothing to show.
        """
        from warehouse.analysis.charts.registry import draw_chart

        drawing = draw_chart(self, name, suite=suite, task_set=task_set, metric=metric)
        for note in drawing.notes:
            self._on_warning(note)
        return drawing.chart


class PreviewedQuery(Query):
    """A query that shows its first rows at a prompt and in notebooks."""

    def __repr__(self) -> str:
        """Return the first rows as a table; if the query cannot be run, its text and why."""
        from warehouse.app.output.preview import text_preview

        try:
            return self._preview(text_preview)
        except EvalstoreError as error:
            return f"Query({self._query!r}): {error}"

    def _repr_html_(self) -> str | None:
        """Return the first rows as HTML, for notebooks; None if the query cannot be run."""
        from warehouse.app.output.preview import html_preview

        try:
            return self._preview(html_preview)
        except EvalstoreError:
            return None

    def _preview(self, write: Callable[[Rows], str]) -> str:
        from warehouse.engine.rows import of_query

        with self._reading(self._query) as connection, query_errors():
            self._check_values(connection)
            return write(of_query(connection, self._query, self._parameters))
