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

    @Test func theAsyncVerbsTakeHeaderFields() async throws {
        let (client, hooks) = (try client(), hooks)
        let text = StringResponseSerializer()
        _ = try await client.head("h").hooks(hooks).response()
        _ = try await client.get("a").hooks(hooks).response(JSONResponseSerializer())
        _ = try await client.get("b").hooks(hooks).response(as: Int.self)
        _ = try await client.get("c").hooks(hooks).response(text)
        _ = try await client.post("a").hooks(hooks).response(JSONResponseSerializer())
        _ = try await client.post("b").hooks(hooks).response(as: Int.self)
        _ = try await client.post("c").hooks(hooks).response(text)
        _ = try await client.put("a").hooks(hooks).response(JSONResponseSerializer())
        _ = try await client.put("b").hooks(hooks).response(as: Int.self)
        _ = try await client.put("c").hooks(hooks).response(text)
        _ = try await client.patch("a").hooks(hooks).response(JSONResponseSerializer())
        _ = try await client.patch("b").hooks(hooks).response(as: Int.self)
        _ = try await client.patch("c").hooks(hooks).response(text)
        _ = try await client.delete("a").hooks(hooks).response(JSONResponseSerializer())
        _ = try await client.delete("b").hooks(hooks).response(as: Int.self)
        _ = try await client.delete("c").hooks(hooks).response(text)
        let expected =
            ["HEAD data /api/h"]
            + ["GET", "POST", "PUT", "PATCH", "DELETE"].flatMap { verb in
                ["a", "b", "c"].map { "\(verb) data /api/\($0)" }
            }
        #expect(try await calls.wait(count: 16) == expected)
    }

    @Test func formsTakeHeaderFields() async throws {
        let (client, hooks) = (try client(), hooks)
        var form = MultipartForm()
        form.append("1", name: "k")
        let text = StringResponseSerializer()
        _ = try await client.call(.patch, "r").body(form: form).hooks(hooks).response(text)
        _ = try await client.post("a", form: form).hooks(hooks).json()
        _ = try await client.call(.put, "a").body(form: form).hooks(hooks).response(text)
        _ = try await client.post("d", form: form).hooks(hooks).task(text).value
        _ = try await client.call(.patch, "t", ["q": 1]).hooks(hooks).task(text).value
        #expect(
            try await calls.wait(count: 5) == [
                "PATCH data /api/r", "POST data /api/a", "PUT data /api/a", "POST upload /api/d", "PATCH data /api/t",
            ])
    }

    @Test func filesTakeHeaderFields() async throws {
        try await withScratchFolder { folder in
            let (client, hooks) = (try client(), hooks)
            try folder.write("abc", to: "file")
            let file = folder["file"]
            _ = try await client.call(.put, "a").body(file: file).hooks(hooks).response(JSONResponseSerializer())
            _ = try await client.call(.put, "b").body(file: file).hooks(hooks).response(as: Int.self)
            _ = try await client.call(.put, "c").body(file: file).hooks(hooks).response(StringResponseSerializer())
            _ = try await client.get("d").hooks(hooks).download(to: folder["download"])
            #expect(
                try await calls.wait(count: 4) == [
                    "PUT data /api/a", "PUT data /api/b", "PUT data /api/c", "GET download /api/d",
                ])
        }
    }
}
