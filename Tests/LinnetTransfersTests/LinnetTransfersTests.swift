import CommandSupport
import ExampleSupport
import Foundation
import HTTPTypes
import LinnetTesting
import Testing

private let linnetTransfers = BuiltProgram("linnet-transfers")

/// The built executable, as a user runs it.
@Suite(.timeLimit(.minutes(2)), .enabled(if: linnetTransfers.exists, "linnet-transfers is not beside the tests"))
struct LinnetTransfersTests {
    private struct Line: Decodable {
        var id: String
        var state: String
        var file: String
        var completed: Int
        var error: String?
    }

    private func withFolder(_ perform: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-transfers-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await perform(folder)
    }

    private func run(_ folder: URL, _ arguments: String...) async throws -> Command {
        let place = ["--directory", folder.appending(path: "session").path]
        return try await linnetTransfers.run([arguments[0]] + place + arguments.dropFirst())
    }

    private func lines(_ run: Command) throws -> [Line] {
        try run.text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    @Test func theVersionIsThePackages() async throws {
        let run = try await linnetTransfers.run(["--version"])
        #expect(run.status == 0 && run.text == ToolVersion.text + "\n", "\(run.text)")
    }

    @Test func tasksAreAddedListedAndTransferred() async throws {
        let data = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 5) })
        try await withMockServer(MockResponse(body: .bytes(data))) { server in
            try await withFolder { folder in
                let urls = [try server.url("/a.bin").absoluteString, try server.url("/b.bin").absoluteString]
                let added = try await run(folder, "add", "--json", "--to", folder.path, urls[0], urls[1])
                #expect(added.status == 0, "\(added.errors)")
                #expect(try lines(added).map(\.id) == ["1", "2"])
                #expect(try lines(try await run(folder, "list", "--json")).map(\.state) == ["waiting", "waiting"])
                let all = try await run(folder, "run", "--until-empty", "--json")
                #expect(all.status == 0, "\(all.errors)")
                #expect(try lines(all).count { $0.state == "completed" && $0.completed == 300_000 } == 2)
                #expect(try Data(contentsOf: folder.appending(path: "a.bin")) == data)
                #expect(try Data(contentsOf: folder.appending(path: "b.bin")) == data)
                let text = try await run(folder, "list").text
                #expect(text.contains("1  completed  300.0 kB of 300.0 kB"), "\(text)")
                #expect(try await run(folder, "list", "--unfinished").text.isEmpty)
                #expect(try await run(folder, "remove", "--all").status == 0)
                #expect(try await run(folder, "list").text.isEmpty)
            }
        }
    }

    @Test func aFailedTaskIsAnExitCode() async throws {
        try await withMockServer(.status(.notFound)) { server in
            try await withFolder { folder in
                let url = try server.url("/a.bin").absoluteString
                #expect(try await run(folder, "add", "--to", folder.path, url).status == 0)
                let all = try await run(folder, "run", "--until-empty", "--json")
                #expect(all.status == 1)
                #expect(try lines(all).last?.error == "transferFailed")
                #expect(try await run(folder, "watch").status == 0)
            }
        }
    }

    @Test func tasksAreControlled() async throws {
        try await withFolder { folder in
            let url = "http://127.0.0.1:9/a.bin"
            #expect(try await run(folder, "add", "--to", folder.path, url).status == 0)
            #expect(try lines(try await run(folder, "pause", "--json", "1")).map(\.state) == ["paused"])
            #expect(try lines(try await run(folder, "resume", "--json", "--all")).map(\.state) == ["waiting"])
            #expect(try lines(try await run(folder, "cancel", "--json", "1")).map(\.state) == ["cancelled"])
            #expect(try lines(try await run(folder, "retry", "--json", "1")).map(\.state) == ["waiting"])
            #expect(try await run(folder, "pause", "7").status == 2)
            for wrong in [["pause"], ["pause", "x"], ["limit", "fast"], ["add", "http://127.0.0.1:9/"]] {
                let place = ["--directory", folder.appending(path: "session").path]
                let result = try await linnetTransfers.run([wrong[0]] + place + wrong.dropFirst())
                #expect(result.status == 64, "\(wrong) \(result.errors)")
            }
            let refused = try await run(folder, "add", "--to", folder.path, url)
            #expect(refused.status == 1 && refused.errors.contains("already downloads"))
        }
    }

    @Test func theLimitIsKept() async throws {
        try await withFolder { folder in
            let none = try await run(folder, "limit")
            #expect(none.text == "off\n")
            #expect(try await run(folder, "limit", "2M").text == "2.0 MB a second\n")
            #expect(try await run(folder, "limit", "--json").text == "{\"bytesPerSecond\":2000000}\n")
            #expect(try await run(folder, "limit", "off").text == "off\n")
            _ = try await run(folder, "add", "--segments", "4", "--to", folder.path, "http://127.0.0.1:9/a")
            let one = try await run(folder, "limit", "500k", "1", "--json")
            #expect(one.status == 0 && one.text.contains("\"bytesPerSecond\":500000"), "\(one.text)")
            #expect(try await run(folder, "limit", "500k", "9").status == 2)
            #expect(try await run(folder, "limit").text == "off\n")
        }
    }

    @Test func anAgentTransfersWhatIsAdded() async throws {
        let data = Data(repeating: 7, count: 100_000)
        try await withMockServer(MockResponse(body: .bytes(data))) { server in
            try await withFolder { folder in
                let url = try server.url("/a.bin").absoluteString
                #expect(try await run(folder, "add", "--to", folder.path, url).status == 0)
                let agent = try await run(folder, "agent", "--until-empty")
                #expect(agent.status == 0 && agent.text.contains("completed"), "\(agent.text)\(agent.errors)")
                #expect(try Data(contentsOf: folder.appending(path: "a.bin")) == data)
            }
        }
    }

    @Test func theHelpHasExamplesAndExitCodes() async throws {
        let run = try await linnetTransfers.run(["--help"])
        #expect(run.status == 0)
        for text in ["linnet-transfers add", "run --until-empty", "Exit codes"] { #expect(run.text.contains(text)) }
    }
}
