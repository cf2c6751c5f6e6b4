-- A verdict as `openclaw_verdict` gives it; the violation is said only of what does not pass.
CREATE OR REPLACE MACRO verdict(passes, violation, parsed_output) AS
    struct_pack(
        objective_pass := passes,
        violation := CASE WHEN NOT passes THEN violation END,
        parsed_output := CAST(parsed_output AS VARCHAR)
    )
