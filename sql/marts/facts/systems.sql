-- What each run tested: a system of an agent and its models, or, where there is no agent, the model
-- itself.
-- grain: run × system
-- inherits: lake.systems
-- first: run_id, system, agent, agent_version, model, models
-- system: label of the system, unique in its suite: `model` of `results` and of the leaderboards; of a
--     model without an agent its name
-- model: the agent's main model, or the model; NULL if it is not recorded
-- models: models by role (agent, user, judge, subagent and others), an object; NULL without an agent
-- is_agent: whether the system is more than a model
SELECT
    suite,
    run_id,
    system,
    any_value(agent) AS agent,
    any_value(agent_version) AS agent_version,
    any_value(harness) AS harness,
    any_value(harness_version) AS harness_version,
    any_value(model) AS model,
    any_value(models) AS models,
    any_value(configuration) AS configuration,
    true AS is_agent
FROM lake.systems
GROUP BY suite, run_id, system
UNION ALL
SELECT DISTINCT
    setups.suite,
    setups.run_id,
    setups.model AS system,
    NULL AS agent,
    NULL AS agent_version,
    NULL AS harness,
    NULL AS harness_version,
    setups.model,
    NULL AS models,
    NULL AS configuration,
    false AS is_agent
FROM scores.setups AS setups
ANTI JOIN lake.systems AS systems
    ON setups.suite = systems.suite
    AND setups.run_id = systems.run_id
    AND setups.model = systems.system
ORDER BY suite, run_id, system
