import { agentContract } from "./agents.contract.ts";
import { aiHarness, fnHarness, modelHarness, processHarness } from "./agents.harness.ts";

agentContract("fn", true, fnHarness);
agentContract("model", false, modelHarness);
agentContract("ai", false, aiHarness);
agentContract("process", true, processHarness);
