import CommandSupport
import FoundationEssentials
import Linnet
import LinnetTesting
import Testing

private let linnet = BuiltProgram("linnet")
private let hasCurl = FileManager.default.isExecutableFile(atPath: "/usr/bin/curl")

/// The commands of Docs/LinnetTool.md. Its table says for each what curl and `linnet` have in common.
@Suite(
    .timeLimit(.minutes(5)), .enabled(if: linnet.exists, "linnet is not beside the tests"),
    .enabled(if: hasCurl, "curl is not installed"))
struct CurlTests {
    /// A run of one command.
    private struct Outcome {
        let run: Command
        let files: [String: Data]
    }

    @Test func theTableHasFortyCommands() throws {
        #expect(try CurlTable.rows().count >= 40)
    }

    @Test(arguments: try CurlTable.rows())
    func bothCommandsDoTheSame(row: CurlTable.Row) async throws {
        let servers = try CurlServers()
        try await Scratch.with { place in
            try await servers.run(socket: place.file("socket")) { ports in
                let pin = String(servers.identity.pin.description.dropFirst("sha256/".count))
                func outcome(_ command: String) async throws -> Outcome {
                    try await Scratch.with { folder in
                        try servers.writeFiles(to: folder)
                        let command = ports(command).replacing("server.socket", with: place.file("socket"))
                        let run = try await Self.run(command, in: folder, pin: pin)
                        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
                        let files = try names.map { ($0, try folder.read($0)) }
                        return Outcome(run: run, files: Dictionary(uniqueKeysWithValues: files))
                    }
                }
                Self.compare(try await outcome(row.curl), try await outcome(row.linnet), row)
            }
        }
    }

    private static func run(_ command: String, in folder: Scratch, pin: String) async throws -> Command {
        let tools = URL(filePath: linnet.path).deletingLastPathComponent().path
        let environment = ["PATH=\(tools):/usr/bin:/bin", "HOME=\(folder.path)", "PIN=\(pin)"]
        return try await Command.run(
            ["/usr/bin/env", "-i"] + environment + ["/bin/sh", "-c", "cd '\(folder.path)' && \(command)"])
    }

    private static func compare(_ curl: Outcome, _ linnet: Outcome, _ row: CurlTable.Row) {
        #expect(curl.run.status == linnet.run.status, "\(curl.run.errors)\n\(linnet.run.errors)")
        switch row.equality {
        case .exitCode: #expect(linnet.run.status != 0)
        case .output: #expect(curl.run.text == linnet.run.text, "\(linnet.run.errors)")
        case .files:
            let written = curl.files.filter { !["root.pem", "client.pem", "client.key"].contains($0.key) }
            #expect(written == linnet.files.filter { written.keys.contains($0.key) }, "\(linnet.run.errors)")
            #expect(curl.files.keys.sorted() == linnet.files.keys.sorted())
        }
    }
}
