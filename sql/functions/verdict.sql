-- A verdict as `openclaw_verdict` gives it: the violation is said of what does not pass.
CREATE OR REPLACE MACRO verdict(passes, violation, parsed_output) AS
    struct_pack(
        objective_pass := passes,
        violation := CASE WHEN passes THEN NULL ELSE violation END,
        parsed_output := CAST(parsed_output AS VARCHAR)
    )
