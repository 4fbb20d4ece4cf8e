import CommandSupport
import FoundationEssentials
import Linnet
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// A process is killed in the middle of a download, and another process resumes it.
///
/// `LINNET_TEST_KILLS` is the number of times that each test does so. The default is 1.
@Suite(.leavesNothingAlive, .needsServers, .serialized, .timeLimit(.minutes(10)))
struct KilledDownloadTests {
    private static let rounds = ProcessInfo.processInfo.environment["LINNET_TEST_KILLS"].flatMap { Int($0) } ?? 1
    private static let gibibyte = 1 << 30

    /// A download from nginx, which sends strong entity tags.
    @Test func aResumedGibibyteFromNginxIsIdentical() async throws {
        try await withServedFile { file, url in
            let digest = try await sha256(of: file)
            for round in 0..<Self.rounds {
                try await withFolder { folder in
                    // At varying points of the download.
                    let killAt = Int64(Self.gibibyte / 10 * (1 + round * 3 % 8))
                    try KillPlan(url: url.absoluteString, folder: folder.path, killAt: killAt).publish()
                    await #expect(processExitsWith: .signal(SIGKILL)) { try await KillPlan.current.runUntilKilled() }
                    let data = try KillPlan.checkWhatIsLeft()
                    // The resume data is at most one interval old, in which some megabytes are received.
                    #expect(data.receivedBytes > killAt / 2)
                    await #expect(processExitsWith: .success) {
                        let resumption = try await KillPlan.current.goOn()
                        #expect(resumption.isResumed)
                    }
                    #expect(try await sha256(of: folder.appending(path: "file")) == digest)
                    try KillPlan.checkThatNothingElseIsLeft()
                }
            }
        }
    }

    @Test func aFileThatChangedMeanwhileIsDownloadedAnew() async throws {
        try await withServedFile { file, url in
            for round in 0..<Self.rounds {
                try await withFolder { folder in
                    try KillPlan(
                        url: url.absoluteString, folder: folder.path, killAt: Int64(Self.gibibyte / 4)
                    ).publish()
                    await #expect(processExitsWith: .signal(SIGKILL)) { try await KillPlan.current.runUntilKilled() }
                    _ = try KillPlan.checkWhatIsLeft()
                    try makeFile(file, size: 64 << 20, seed: UInt64(100 + round))
                    await #expect(processExitsWith: .success) {
                        let resumption = try await KillPlan.current.goOn()
                        #expect(resumption == .startedOver(.entityChanged))
                    }
                    let digest = try await sha256(of: file)
                    #expect(try await sha256(of: folder.appending(path: "file")) == digest)
                    try KillPlan.checkThatNothingElseIsLeft()
                    try makeFile(file, size: Self.gibibyte, seed: UInt64(200 + round))
                }
            }
        }
    }

    /// httpbin generates its ranges on request, and can send them slowly.
    @Test func aResumedRangeFromHTTPBinIsIdentical() async throws {
        let size = 102_400
        let expected = Data((0..<size).map { UInt8(ascii: "a") + UInt8($0 % 26) })
        let url = try Server.httpbin.url.appending(path: "range/\(size)")
        for _ in 0..<Self.rounds {
            try await withFolder { folder in
                let slow = url.absoluteString + "?duration=2&chunk_size=1024"
                try KillPlan(url: slow, folder: folder.path, killAt: 30_000).publish()
                await #expect(processExitsWith: .signal(SIGKILL)) { try await KillPlan.current.runUntilKilled() }
                let data = try KillPlan.checkWhatIsLeft()
                #expect(data.receivedBytes < size)
                try KillPlan(url: url.absoluteString, folder: folder.path, killAt: 0).publish()
                await #expect(processExitsWith: .success) {
                    let resumption = try await KillPlan.current.goOn()
                    #expect(resumption.isResumed)
                }
                #expect(try Data(contentsOf: folder.appending(path: "file")) == expected)
                try KillPlan.checkThatNothingElseIsLeft()
            }
        }
    }

    // MARK: Files

    /// Serves a gibibyte with nginx.
    private func withServedFile(_ perform: (_ file: URL, _ url: URL) async throws -> Void) async throws {
        let name = "killed-\(UUID().uuidString)"
        let file = URL(filePath: try Environment.value(of: "LINNET_TEST_SERVERS")).appending(path: "www/\(name)")
        defer { try? FileManager.default.removeItem(at: file) }
        try makeFile(file, size: Self.gibibyte, seed: 1)
        try await perform(file, Server.plain.url.appending(path: name))
    }

    /// Creates a file in which no two megabytes are equal.
    private func makeFile(_ file: URL, size: Int, seed: UInt64) throws {
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        defer { close(descriptor) }
        var state = seed
        var piece = [UInt64](repeating: 0, count: 1 << 17)
        for index in piece.indices {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            piece[index] = state
        }
        for number in 0..<(size >> 20) {
            for index in stride(from: 0, to: piece.count, by: 64) {
                piece[index] = UInt64(number) &* 31 &+ piece[index]
            }
            let count = piece.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            try #require(count == 1 << 20)
        }
    }

    private func sha256(of file: URL) async throws -> String {
        let command = try await Command.run(["sha256sum", file.path])
        try #require(command.status == 0, "\(command.errors)")
        return String(command.text.prefix(64))
    }

    private func withFolder(_ perform: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-killed-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await perform(folder)
    }
}

/// The settings that the processes of a test share through the environment.
private struct KillPlan: Codable {
    private static let variable = "LINNET_TEST_KILL_PLAN"

    var url: String
    var folder: String
    var killAt: Int64

    static var current: KillPlan {
        get throws {
            let text = try #require(getenv(variable).map { String(cString: $0) })
            return try JSONDecoder().decode(KillPlan.self, from: Data(text.utf8))
        }
    }

    func publish() throws {
        setenv(Self.variable, String(decoding: try JSONEncoder().encode(self), as: UTF8.self), 1)
    }

    private var file: URL { URL(filePath: folder).appending(path: "file") }
    private var resumeFile: URL { URL(filePath: folder).appending(path: "resume.json") }
    private var options: DownloadOptions {
        DownloadOptions {
            $0.resumeFile = resumeFile
            $0.resumeInterval = .milliseconds(20)
        }
    }

    private var request: SessionRequest {
        get throws { SessionRequest(url: try #require(URL(string: url))) }
    }

    /// Downloads until the given number of bytes was received, then kills its own process.
    func runUntilKilled() async throws {
        let session = try HTTPSession()
        let task = try session.call(request).downloadTask(to: file, options: options)
        task.onProgress { [killAt] in
            if $0.download.completed >= killAt { kill(getpid(), SIGKILL) }
        }
        task.resume()
        _ = try await task.value
    }

    /// Resumes the download of a killed process.
    func goOn() async throws -> DownloadOptions.Resumption {
        let session = try HTTPSession()
        let data = try #require(try ResumeData(contentsOf: resumeFile))
        let task = try session.call(request).downloadTask(to: file, resuming: data, options: options)
        task.resume()
        _ = try await task.value
        await session.shutdown()
        return try #require(task.resumption)
    }

    static func checkWhatIsLeft() throws -> ResumeData {
        let plan = try current
        #expect(!FileManager.default.fileExists(atPath: plan.file.path))
        return try #require(try ResumeData(contentsOf: plan.resumeFile))
    }

    static func checkThatNothingElseIsLeft() throws {
        let plan = try current
        // A process can be killed after writing the next resume data and before renaming its file.
        let names = try FileManager.default.contentsOfDirectory(atPath: plan.folder).filter {
            !$0.hasPrefix(".resume.json.linnet-")
        }
        #expect(names == ["file"])
    }
}

extension DownloadOptions.Resumption {
    fileprivate var isResumed: Bool {
        if case .resumed(let offset) = self { offset > 0 } else { false }
    }
}
