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
    private static let sizes = Dictionary(uniqueKeysWithValues: (0..<files).map { ("file-\($0)", Int64(size($0))) })
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
        var tags: [String: String] = [:]
        for index in 0..<files {
            tags["file-\(index)"] = try server.set(index, content(index, version: 0), version: 0)
        }
        try await withFolder { folder in
            for index in 0..<3 {
                try bytes(50_000, seed: UInt64(index)).write(to: folder.appending(path: "up\(index)"))
            }
            var counts = KillCounts(sizes: sizes, first: try await round(in: folder, tags))
            for process in 1...kills {
                let index = process % 7 == 2 ? Int.random(in: 0..<files) : nil
                if let index { versions[index].insert(process) }
                counts.rounds[process - 1].isLogged = process % 5 != 1
                // While the process transfers.
                async let tag = disturb(server, breaks: process % 5 == 1, changes: index, version: process)
                try await killOne(folder, server.url, after: Int.random(in: 1...400))
                if let index { tags["file-\(index)"] = try await tag } else { _ = try await tag }
                counts.add(try await round(in: folder, tags), reported: try reported(in: folder))
            }
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
            print("\(kills) kills: \(wrong) of \(files) files wrong, 3 uploads sent \(uploads) times")
            print(counts.loss)
            #expect(counts.losses.isEmpty)
            // A few processes can all be killed before they transfer.
            #expect(counts.downloading > kills / 4 || kills < 100)
            let downloads = try server.downloads()
            #expect(counts.hasOnlyKnownVersions(downloads))
            guard !downloads.isEmpty else { return }
            counts.count(downloads)
            print("\(downloads.count) requests: \(counts.summary)")
            #expect(counts.requestedTwice == 0)
            let bound = Int64(files) * KillCounts.lastByte
            #expect(counts.requestedAgain.allSatisfy { $0 <= bound }, "\(counts.requestedAgain)")
        }
    }

    /// The files between two processes.
    private static func round(in folder: URL, _ served: [String: String]) async throws -> KillCounts.Round {
        let tasks = try await withBackground(in: folder, { $0.role = .observer }) { try await $0.tasks }
        let names = names(in: folder)
        let side = SideFiles(folder: sessionFolder(folder).appending(path: "parts"))
        let parts = tasks.compactMap { task in
            side.entityTag(of: task).map {
                (task.file.lastPathComponent, KeptPart(entityTag: $0, received: task.progress.completed))
            }
        }
        // The name of a complete file does not tell its task, but its size does.
        let whole = try names.filter { $0.hasSuffix(".whole") }.map { name in
            let size = try Data(contentsOf: folder.appending(path: name), options: .mappedIfSafe).count
            return try #require(sizes.first { $0.value == Int64(size) }).key
        }
        return KillCounts.Round(
            begin: Date().timeIntervalSince1970, parts: Dictionary(parts) { first, _ in first }, complete: Set(names),
            whole: Set(whole), served: served)
    }

    /// Breaks connections, and changes a file, at a random moment.
    ///
    /// - Returns: The new entity tag of the file.
    private static func disturb(
        _ server: some ChangingServer, breaks: Bool, changes index: Int?, version: Int
    ) async throws -> String? {
        guard breaks || index != nil else { return nil }
        try await Task.sleep(for: .milliseconds(Int.random(in: 0...1000)))
        if breaks { try await server.disturb() }
        return try index.map { try server.set($0, content($0, version: version), version: version) }
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
                try? await Self.noteReported(opened, folder)
                kill(getpid(), SIGKILL)
            }
            let background = try await Self.open(folder)
            opened.session.withLock { $0 = background }
            let reading = Task {
                for await event in background.events where event.kind == .progressed { opened.note(event.task) }
            }
            try await Self.add(background, folder, url)
            // Until it is killed.
            _ = killing
            await reading.value
        }
    }

    /// The session of a process that will be killed, and the progress that it has reported.
    private final class Opened: Sendable {
        let session = Mutex<BackgroundSession?>(nil)
        private let most = Mutex<[String: Int64]>([:])

        var reported: [String: Int64] { most.withLock { $0 } }

        func note(_ task: BackgroundTask?) {
            guard let task else { return }
            most.withLock { $0[task.file.lastPathComponent, default: 0].raise(to: task.progress.completed) }
        }
    }

    /// The file in which a process notes its progress before it is killed.
    private static func reportFile(_ folder: URL) -> URL { URL(filePath: folder.path + ".reported") }

    private static func noteReported(_ opened: Opened, _ folder: URL) async throws {
        guard let background = opened.session.withLock({ $0 }) else { return }
        for task in try await background.tasks where task.state == .running && task.kind == .download {
            opened.note(task)
        }
        let lines = opened.reported.map { "\($0.key) \($0.value)\n" }
        try Data(lines.joined().utf8).write(to: reportFile(folder))
    }

    /// The most progress of each download that the killed process has reported.
    private static func reported(in folder: URL) throws -> [String: Int64] {
        guard let text = try? String(contentsOf: reportFile(folder), encoding: .utf8) else { return [:] }
        try FileManager.default.removeItem(at: reportFile(folder))
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

    private static func size(_ index: Int) -> Int {
        max(1, largest * 1000 * (index + 1) * (index + 1) / (files * files))
    }

    /// The content of a file: blocks that differ.
    private static func content(_ index: Int, version: Int) -> Data {
        let size = size(index)
        let block = bytes(1 << 16, seed: UInt64(index + 1000 * version))
        var data = Data(capacity: size + block.count)
        while data.count < size {
            withUnsafeBytes(of: data.count) { data.append(contentsOf: $0) }
            data.append(block)
        }
        return data.prefix(size)
    }
}

extension Int64 {
    fileprivate mutating func raise(to other: Int64) { self = Swift.max(self, other) }
}
