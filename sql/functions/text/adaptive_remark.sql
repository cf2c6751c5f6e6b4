-- Why a run of tasks that were chosen by the answers (`evalstore run --adaptive`) has no figures; NULL for
-- other runs.
CREATE OR REPLACE MACRO adaptive_remark(is_adaptive) AS
    if(
        is_adaptive,
        'tasks chosen by the answers: the share that passed is no score; see evalstore subset --estimate',
        NULL
    )
