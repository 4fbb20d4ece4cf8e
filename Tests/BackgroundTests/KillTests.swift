import CommandSupport
import FoundationEssentials
import HTTPTypes
import LinnetBackground
import LinnetSession
import LinnetTesting
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Processes that are killed at random moments while many transfers run.
@Suite(.timeLimit(.minutes(60)))
struct KillTests {
    private static let files = 20

    private static func number(_ name: String, _ usual: Int) -> Int {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? usual
    }

    /// The number of processes that are killed; the environment variable `LINNET_BACKGROUND_KILLS` sets another.
    private static let kills = number("LINNET_BACKGROUND_KILLS", 8)
    /// The size of the largest file in kilobytes. It grows with the number of kills, so that most of them hit a
    /// transfer.
    private static let largest = number("LINNET_BACKGROUND_KILOBYTES", 1000 * kills)
    private static let usesNginx = number("LINNET_BACKGROUND_NGINX", 0) == 1

    @Test func killedProcessesLoseAndDoubleNothing() async throws {
        let files = FileServer([:])
        try await withMockServer(handler: { files.respond(to: $0) }) { server in
            try await Self.killAndFinish(MockFileServer(files, server))
        }
    }

    @Test(.enabled(if: usesNginx, "LINNET_BACKGROUND_NGINX is not 1"))
    func killedProcessesLoseAndDoubleNothingWithNginx() async throws {
        try await withFolder { folder in
            let server = try await NginxFileServer(in: folder)
            do {
                try await Self.killAndFinish(server)
                try await server.stop()
            } catch {
                try await server.stop()
                throw error
            }
        }
    }

    private static func killAndFinish(_ server: some ChangingServer) async throws {
        // The versions of each file.
        var versions = [Set<Int>](repeating: [0], count: files)
        for index in 0..<files { try server.set(index, content(index, version: 0), version: 0) }
        try await withFolder { folder in
            for index in 0..<3 {
                try bytes(50_000, seed: UInt64(index)).write(to: folder.appending(path: "up\(index)"))
            }
            var counts = KillCounts()
            for round in 1...kills {
                counts.rounds.append(try await Self.round(in: folder))
                let index = round % 7 == 2 ? Int.random(in: 0..<files) : nil
                if let index {
                    versions[index].insert(round)
                    counts.rounds[round - 1].changed = "file-\(index)"
                }
                counts.rounds[round - 1].isLogged = round % 5 != 1
                // While the process transfers.
                async let disturbed: Void = disturb(server, breaks: round % 5 == 1, changes: index, version: round)
                try await killOne(folder, server.url, after: Int.random(in: 1...400))
                try await disturbed
                counts.noteLoss(from: try Self.seen(in: folder), to: try await Self.round(in: folder))
            }
            counts.rounds.append(try await Self.round(in: folder))
            try await server.calm()
            try await finish(folder, server.url)
            var wrong = 0
            for index in 0..<files {
                let found = try Data(contentsOf: folder.appending(path: "file-\(index)"))
                let isRight = versions[index].contains { content(index, version: $0) == found }
                #expect(isRight, "file \(index)")
                wrong += isRight ? 0 : 1
            }
            // Each upload was sent once, and again for each process that ended while it was sent.
            let uploads = try server.uploads()
            #expect((3...12).contains(uploads))
            print("\(kills) kills: \(wrong) of \(files) files wrong, 3 uploads sent \(uploads) times; \(counts.loss)")
            let downloads = try server.downloads()
            guard !downloads.isEmpty else { return }
            counts.count(downloads)
            print("\(downloads.count) requests: \(counts.summary)")
            #expect(counts.requestedTwice == 0)
            #expect(counts.requestedAgain.allSatisfy { $0 <= 1 << 20 }, "\(counts.requestedAgain)")
        }
    }

    /// The files and the tasks between two processes.
    private static func round(in folder: URL) async throws -> KillCounts.Round {
        let tasks = try await withBackground(in: folder, { $0.role = .observer }) { try await $0.tasks }
        let names = names(in: folder)
        return KillCounts.Round(
            begin: Date().timeIntervalSince1970,
            tasks: Dictionary(tasks.map { ($0.file.lastPathComponent, $0) }) { first, _ in first },
            complete: Set(names), isChecking: names.contains { $0.hasSuffix(".whole") })
    }

    /// Breaks connections, and changes a file, at a random moment.
    private static func disturb(
        _ server: some ChangingServer, breaks: Bool, changes index: Int?, version: Int
    ) async throws {
        guard breaks || index != nil else { return }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...1000)))
        if breaks { try await server.disturb() }
        if let index { try server.set(index, content(index, version: version), version: version) }
    }

    /// Kills a process after a time in milliseconds.
    private static func killOne(_ folder: URL, _ url: String, after time: Int) async throws {
        let place: String = folder.path
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [place = place as String, url = url as String, time = time as Int] in
            let folder = URL(filePath: place)
            let opened = Opened()
            let killing = Task {
                try? await Task.sleep(for: .milliseconds(time))
                if let background = opened.session.withLock({ $0 }) { try? await Self.noteSeen(background, folder) }
                kill(getpid(), SIGKILL)
            }
            let background = try await Self.open(folder)
            opened.session.withLock { $0 = background }
            try await Self.add(background, folder, url)
            // Until it is killed.
            _ = killing
            for await _ in background.events {}
        }
    }

    /// The session of a process that will be killed.
    private final class Opened: Sendable {
        let session = Mutex<BackgroundSession?>(nil)
    }

    /// The file in which a process notes its progress before it is killed.
    private static func seenFile(_ folder: URL) -> URL { URL(filePath: folder.path + ".seen") }

    private static func noteSeen(_ background: BackgroundSession, _ folder: URL) async throws {
        let running = try await background.tasks.filter { $0.state == .running && $0.kind == .download }
        let lines = running.map { "\($0.file.lastPathComponent) \($0.progress.completed)\n" }
        try Data(lines.joined().utf8).write(to: seenFile(folder))
    }

    /// The progress of running downloads that the killed process has noted.
    private static func seen(in folder: URL) throws -> [String: Int64] {
        guard let text = try? String(contentsOf: seenFile(folder), encoding: .utf8) else { return [:] }
        try FileManager.default.removeItem(at: seenFile(folder))
        return Dictionary(
            text.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                return Int64(words[1]).map { (String(words[0]), $0) }
            }
        ) { first, _ in first }
    }

    private static func open(_ folder: URL) async throws -> BackgroundSession {
        try await BackgroundSession("test", directory: sessionFolder(folder)) {
            $0.retryPolicy.backoff.first = .milliseconds(5)
            $0.retryPolicy.backoff.maximum = .milliseconds(50)
            $0.retryPolicy.limit = 1000
            $0.maximumActive = 10
            $0.maximumActivePerHost = 10
            $0.attemptsToRecreateUploads = 3
        }
    }

    /// Adds the tasks that are not there.
    private static func add(_ background: BackgroundSession, _ folder: URL, _ url: String) async throws {
        let base = url.hasSuffix("/") ? String(url.dropLast()) : url
        let known = Set(try await background.tasks.map(\.file.lastPathComponent))
        for index in 0..<3 where !known.contains("up\(index)") {
            let call = background.session.put("\(base)/up\(index)")
            try await background.upload(call, fromFile: folder.appending(path: "up\(index)"))
        }
        for index in 0..<files where !known.contains("file-\(index)") {
            let call = background.session.get("\(base)/\(index)")
            try await background.download(call, to: folder.appending(path: "file-\(index)")) {
                // Files that are too small for segments are downloaded by one request.
                $0.segments = index % 2 == 0 ? 1 : 4
            }
        }
    }

    private static func finish(_ folder: URL, _ url: String) async throws {
        let background = try await open(folder)
        try await add(background, folder, url)
        try await background.drained()
        // An upload that was interrupted too often has failed, as it should.
        for task in try await background.tasks where task.error?.code == .interrupted {
            try await background.retry(task.id)
        }
        try await background.drained()
        let tasks = try await background.tasks
        #expect(tasks.count == files + 3)
        #expect(tasks.allSatisfy { $0.state == .completed }, "\(tasks.compactMap(\.error))")
        await background.shutdown()
        let expected = (0..<files).map { "file-\($0)" } + ["session", "up0", "up1", "up2"]
        #expect(names(in: folder) == expected.sorted())
        #expect(names(in: sessionFolder(folder).appending(path: "parts")).isEmpty)
    }

    /// The content of a file: blocks that differ.
    private static func content(_ index: Int, version: Int) -> Data {
        let size = max(1, largest * 1000 * (index + 1) * (index + 1) / (files * files))
        let block = bytes(1 << 16, seed: UInt64(index + 1000 * version))
        var data = Data(capacity: size + block.count)
        while data.count < size {
            withUnsafeBytes(of: data.count) { data.append(contentsOf: $0) }
            data.append(block)
        }
        return data.prefix(size)
    }
}
