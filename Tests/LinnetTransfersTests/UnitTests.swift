import CommandSupport
import FoundationEssentials
import Testing

private let hasSystemd = (try? Command.run(["systemd-analyze", "--version"]))?.status == 0

/// The units of systemd in Docs/Background.md.
@Suite(.timeLimit(.minutes(1)), .enabled(if: hasSystemd, "systemd-analyze is not installed"))
struct UnitTests {
    @Test func theUnitsAreValid() async throws {
        let page = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Docs/Background.md")
        let units = try String(contentsOf: page.standardized, encoding: .utf8).components(separatedBy: "```ini\n")
            .dropFirst().compactMap { $0.components(separatedBy: "```").first }
        try #require(units.count == 2)
        let program = BuiltProgram("linnet-transfers").path
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-units-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var paths: [String] = []
        for (unit, kind) in zip(units, ["service", "path"]) {
            let file = folder.appending(path: "linnet-transfers.\(kind)")
            // The verification looks for the program.
            let text = unit.replacing("/usr/local/bin/linnet-transfers", with: program)
            #expect(kind == "path" || text != unit)
            try Data(text.utf8).write(to: file)
            paths.append(file.path)
        }
        let environment = ["env", "XDG_RUNTIME_DIR=\(folder.path)", "HOME=\(folder.path)"]
        let command = try await Command.run(environment + ["systemd-analyze", "--user", "verify"] + paths)
        #expect(command.status == 0 && command.errors.isEmpty, "\(command.errors)")
    }
}
