// IBM Cloud's own client for JavaScript asks the stand-in what ocpctl asks those of its services that have such a client. It prints what it
// found of each kind, by call, as JSON.
import { IamAuthenticator } from "@ibm-cloud/platform-services/auth/index.js";
import GlobalSearch from "@ibm-cloud/platform-services/global-search/v2.js";
import GlobalTagging from "@ibm-cloud/platform-services/global-tagging/v1.js";
import IamIdentity from "@ibm-cloud/platform-services/iam-identity/v1.js";
import ResourceController from "@ibm-cloud/platform-services/resource-controller/v2.js";
import ResourceManager from "@ibm-cloud/platform-services/resource-manager/v2.js";

const base = process.env.IBM_BASE;
const make = (library, path) => new (library.default ?? library)({
  authenticator: new IamAuthenticator({ apikey: process.env.IC_API_KEY, url: `${base}/iam` }), serviceUrl: base + path,
});
const iam = make(IamIdentity, "/iam"), controller = make(ResourceController, "/rc"), manager = make(ResourceManager, "/rc");
const search = make(GlobalSearch, "/search"), tagging = make(GlobalTagging, "/tags");

const found = {};
const call = async (name, client, input) => {
  try {
    return (await client[name](input)).result;
  } catch (problem) {
    throw new Error(`${name}: ${problem.status} ${problem.message}`);
  }
};
const list = async (name, client, field, input) => {
  const items = (await call(name, client, input))[field];
  found[name] = Array.isArray(items) ? items.length : items === undefined ? 0 : 1;
  return items;
};

const account = process.env.IBM_ACCOUNT;
const group = await list("createResourceGroup", manager, "id", { name: "audited", accountId: account });
await list("listResourceGroups", manager, "resources", { accountId: account, name: "audited" });
await list("getResourceGroup", manager, "name", { id: group });
await call("listResourceInstances", controller, { resourceGroupId: group });
await call("listReclamations", controller, { accountId: account });
const ids = await list("listServiceIds", iam, "serviceids", { accountId: account, pagesize: 100 });
const mine = ids.find((id) => id.name.startsWith("audited"));
await list("listApiKeys", iam, "apikeys", { accountId: account, iamId: mine.iam_id, scope: "account", type: "serviceid" });
const items = await list("search", search, "items", { query: "*", fields: ["crn", "name", "type"], accountId: account, limit: 50 });
const tagged = { resources: [{ resource_id: items[0].crn }], tagNames: ["audited:yes"], tagType: "user" };
found.attachTag = (await call("attachTag", tagging, tagged)).results.filter((r) => !r.is_error).length;
await list("listTags", tagging, "items", { attachedTo: items[0].crn, tagType: "user" });
await list("createTag", tagging, "results", { tagNames: ["audited:alone"], tagType: "user" });
found.deleteTag = (await call("deleteTag", tagging, { tagName: "audited:alone", tagType: "user" })).results.length;
await call("deleteServiceId", iam, { id: mine.id });
await call("deleteResourceGroup", manager, { id: group });
console.log(JSON.stringify(found));
