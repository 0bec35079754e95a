// Asks RouterService.Route and prints the answer, or the reason of its refusal, as one line of JSON.
// Knows the service from its protos alone.
//
//   node route.cjs TARGET TOKEN BODY INCLUDE_FOLDER...

"use strict";

const grpc = require("@grpc/grpc-js");
const loader = require("@grpc/proto-loader");

const DEADLINE_MS = 10_000;
const DETAILS = "grpc-status-details-bin";
const LOADING = { keepCase: true, longs: Number, enums: String, defaults: false, oneofs: true };

const [target, token, body, ...includeDirs] = process.argv.slice(2);
const files = [
  "pointsman/router/v1/router.proto",
  "google/rpc/status.proto",
  "google/rpc/error_details.proto",
];
const definition = loader.loadSync(files, { ...LOADING, includeDirs });
const { RouterService } = grpc.loadPackageDefinition(definition).pointsman.router.v1;

// Returns the ErrorInfo among the details of a refusal.
function infoOf(error) {
  const [bytes] = error.metadata.get(DETAILS);
  const status = definition["google.rpc.Status"].deserialize(bytes);
  const found = status.details.find((each) => each.type_url.endsWith("/google.rpc.ErrorInfo"));
  return definition["google.rpc.ErrorInfo"].deserialize(found.value);
}

const metadata = new grpc.Metadata();
metadata.set("authorization", `Bearer ${token}`);
const client = new RouterService(target, grpc.credentials.createInsecure());
const request = { surface: "WIRE_FAMILY_ANTHROPIC", body: Buffer.from(body), wants_explanation: true };
client.Route(request, metadata, { deadline: Date.now() + DEADLINE_MS }, (error, answer) => {
  const said = error ? { code: grpc.status[error.code], info: infoOf(error) } : { answer };
  process.stdout.write(`${JSON.stringify(said)}\n`);
  client.close();
});
