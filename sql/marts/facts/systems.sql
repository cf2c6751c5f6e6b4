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
    arg_min(agent, content_id) AS agent,
    arg_min(agent_version, content_id) AS agent_version,
    arg_min(harness, content_id) AS harness,
    arg_min(harness_version, content_id) AS harness_version,
    arg_min(model, content_id) AS model,
    arg_min(models, content_id) AS models,
    arg_min(configuration, content_id) AS configuration,
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
