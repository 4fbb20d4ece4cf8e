import FoundationEssentials
import HTTPTypes
import LinnetMultipart
import LinnetSerialization
import LinnetSession
import LinnetTesting
import LinnetTransport
import Testing

/// Every verb takes hooks for its request.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct VerbHookTests {
    private let calls = EventRecorder<String>()

    private var hooks: TaskHooks {
        var hooks = TaskHooks()
        hooks.didComplete = { [calls] context, _ in
            calls.record("\(context.request.method.rawValue) \(context.kind) \(context.request.url.path())")
        }
        return hooks
    }

    private func client() throws -> HTTPSession {
        try makeClient(StubTransport { $0.head.method == .head ? .status(200) : .json("1") })
    }

    @Test func theAsyncVerbsTakeThem() async throws {
        let (client, hooks) = (try client(), hooks)
        let text = StringResponseSerializer()
        _ = try await client.head("h", hooks: hooks)
        _ = try await client.get("a", hooks: hooks)
        _ = try await client.get("b", as: Int.self, hooks: hooks)
        _ = try await client.get("c", serializer: text, hooks: hooks)
        _ = try await client.post("a", hooks: hooks)
        _ = try await client.post("b", as: Int.self, hooks: hooks)
        _ = try await client.post("c", serializer: text, hooks: hooks)
        _ = try await client.put("a", hooks: hooks)
        _ = try await client.put("b", as: Int.self, hooks: hooks)
        _ = try await client.put("c", serializer: text, hooks: hooks)
        _ = try await client.patch("a", hooks: hooks)
        _ = try await client.patch("b", as: Int.self, hooks: hooks)
        _ = try await client.patch("c", serializer: text, hooks: hooks)
        _ = try await client.delete("a", hooks: hooks)
        _ = try await client.delete("b", as: Int.self, hooks: hooks)
        _ = try await client.delete("c", serializer: text, hooks: hooks)
        let expected =
            ["HEAD data /api/h"]
            + ["GET", "POST", "PUT", "PATCH", "DELETE"].flatMap { verb in
                ["a", "b", "c"].map { "\(verb) data /api/\($0)" }
            }
        #expect(try await calls.wait(count: 16) == expected)
    }

    @Test func theVerbsWithCallbacksTakeThem() async throws {
        let (client, hooks) = (try client(), hooks)
        let done = EventRecorder<Void>()
        let text = StringResponseSerializer()
        client.head("h", hooks: hooks, success: { _ in done.record(()) })
        client.get("a", hooks: hooks, success: { _ in done.record(()) })
        client.get("b", serializer: text, hooks: hooks, success: { _ in done.record(()) })
        client.post("a", hooks: hooks, success: { _ in done.record(()) })
        client.post("b", serializer: text, hooks: hooks, success: { _ in done.record(()) })
        client.put("a", hooks: hooks, success: { _ in done.record(()) })
        client.put("b", serializer: text, hooks: hooks, success: { _ in done.record(()) })
        client.patch("a", hooks: hooks, success: { _ in done.record(()) })
        client.patch("b", serializer: text, hooks: hooks, success: { _ in done.record(()) })
        client.delete("a", hooks: hooks, success: { _ in done.record(()) })
        client.delete("b", serializer: text, hooks: hooks, success: { _ in done.record(()) })
        try await done.wait(count: 11)
        let expected =
            ["HEAD data /api/h"]
            + ["GET", "POST", "PUT", "PATCH", "DELETE"].flatMap { verb in
                ["a", "b"].map { "\(verb) data /api/\($0)" }
            }
        #expect(try await calls.wait(count: 11).sorted() == expected.sorted())
    }

    @Test func formsTakeThem() async throws {
        let (client, hooks) = (try client(), hooks)
        var form = MultipartForm()
        form.append("1", name: "k")
        let text = StringResponseSerializer()
        let fill: @Sendable (inout MultipartForm) throws -> Void = { $0.append("1", name: "k") }
        _ = try await client.response(.patch, "r", multipart: form, serializer: text, hooks: hooks)
        _ = try await client.post("a", multipart: form, hooks: hooks)
        _ = try await client.post("b", multipart: form, serializer: text, hooks: hooks)
        _ = try await client.post("c", hooks: hooks) { try fill(&$0) }
        _ = try await client.put("a", multipart: form, hooks: hooks)
        _ = try await client.put("b", multipart: form, serializer: text, hooks: hooks)
        _ = try await client.put("c", hooks: hooks) { try fill(&$0) }
        _ = try await client.post("d", hooks: hooks, multipart: fill, success: { _ in }).value
        _ = try await client.put("d", hooks: hooks, multipart: fill, success: { _ in }).value
        let task = client.task(.patch, "t", parameters: ["q": 1], multipart: fill, serializer: text)
        task.hooks = hooks
        task.resume()
        _ = try await task.value
        #expect(
            try await calls.wait(count: 10) == [
                "PATCH data /api/r", "POST data /api/a", "POST data /api/b", "POST data /api/c", "PUT data /api/a",
                "PUT data /api/b", "PUT data /api/c", "POST upload /api/d", "PUT upload /api/d", "PATCH upload /api/t",
            ])
    }

    @Test func filesTakeThem() async throws {
        try await withScratchFolder { folder in
            let (client, hooks) = (try client(), hooks)
            try folder.write("abc", to: "file")
            let file = folder["file"]
            _ = try await client.upload("a", fromFile: file, hooks: hooks)
            _ = try await client.upload("b", as: Int.self, fromFile: file, hooks: hooks)
            _ = try await client.upload("c", fromFile: file, serializer: StringResponseSerializer(), hooks: hooks)
            _ = try await client.download("d", to: folder["download"], hooks: hooks)
            #expect(
                try await calls.wait(count: 4) == [
                    "PUT data /api/a", "PUT data /api/b", "PUT data /api/c", "GET download /api/d",
                ])
        }
    }
}
