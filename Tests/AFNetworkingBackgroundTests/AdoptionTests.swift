import CommandSupport
import Dispatch
import Foundation
import LinnetAFNetworkingBackground
import LinnetBackground
import LinnetTesting
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// Tells the main queue, which need not run on the main thread.
private let mainKey = DispatchSpecificKey<Bool>()

/// Tasks that an earlier process has left.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct AdoptionTests {
    private static let slow = MockResponse.Throttle(bytes: 64 << 10, pause: .milliseconds(20))
    private let server = TransferServer()

    /// What a manager with blocks has seen, in order.
    private final class Seen: Sendable {
        let events = EventRecorder<String>()

        func watch(_ manager: AFURLSessionManager, _ folder: URL) {
            DispatchQueue.main.setSpecific(key: mainKey, value: true)
            manager.setDownloadTaskDidFinishDownloading { [events] _, task, file in
                events.record("downloaded \(task.taskDescription ?? "nothing")")
                return folder.appending(path: task.taskDescription ?? file.lastPathComponent)
            }
            manager.setTaskDidComplete { [events] _, task, error in
                events.record("completed \(task is URLSessionDownloadTask ? "download" : "upload") \(error == nil)")
            }
            manager.setDidFinishEventsForBackgroundURLSession { [events] _ in
                events.record("finished \(DispatchQueue.getSpecific(key: mainKey) == true)")
            }
        }
    }

    @Test func aKilledProcessesDownloadAndUploadAreAdopted() async throws {
        let data = makeBytes(3_000_000)
        server.change {
            ($0.file, $0.throttle, $0.stallsUploads) = (data, Self.slow, true)
        }
        try await server.run { mock in
            try await withFolder { folder in
                try makeBytes(4_000_000).write(to: folder.appending(path: "source"))
                let place: String = folder.path
                let url: String = mock.url.absoluteString
                await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as String, url = url as String] in
                    try await Self.transferUntilKilled(URL(filePath: place), try #require(URL(string: url)))
                }
                let numbers = try Self.numbers(in: folder)
                #expect(numbers.count == 2 && server.uploads.isEmpty)
                server.change { ($0.throttle, $0.stallsUploads) = (nil, false) }
                let seen = Seen()
                let notifications = Notifications(of: Set(numbers))
                defer { notifications.stop() }
                try await withManager(in: folder, { seen.watch($0, folder) }) { manager in
                    // The ends wait for this queue.
                    manager.operationQueue.isSuspended = true
                    // The tasks are there as soon as the manager is.
                    #expect(Set(manager.tasks.map(\.taskIdentifier)) == Set(numbers))
                    let download = try #require(manager.downloadTasks.first)
                    let upload = try #require(manager.uploadTasks.first)
                    #expect(download.taskDescription == "saved" && upload.taskDescription == "up")
                    #expect(download.originalRequest?.url?.path() == "/file")
                    #expect(upload.originalRequest?.httpMethod == "PUT")
                    #expect(upload.originalRequest?.value(forHTTPHeaderField: "X-Own") == "1")
                    #expect(manager.downloadProgress(for: download) != nil)
                    manager.operationQueue.isSuspended = false
                    try await seen.events.wait { $0.contains { $0.hasPrefix("finished") } }
                    #expect(manager.tasks.isEmpty && upload.response != nil && download.error == nil)
                }
                let events = seen.events.events
                #expect(events.last == "finished true")
                #expect(
                    events.sorted() == [
                        "completed download true", "completed upload true", "downloaded saved", "finished true",
                    ])
                #expect(
                    notifications.names.events.sorted() == [
                        "download complete", "download moved", "upload complete with JSON",
                    ])
                #expect(try Data(contentsOf: folder.appending(path: "saved")) == data)
                #expect(server.uploads.map(\.body.count) == [4_000_000])
                #expect(server.requests.contains { $0.method == .get && $0.headerFields[.range] != nil })
                try await Self.expectNothing(in: folder)
            }
        }
    }

    private static func transferUntilKilled(_ folder: URL, _ url: URL) async throws {
        let manager = AFURLSessionManager(sessionConfiguration: configuration(in: folder))
        var put = request(url.appending(path: "up"), "PUT")
        put.setValue("1", forHTTPHeaderField: "X-Own")
        let upload = manager.uploadTask(with: put, fromFile: folder.appending(path: "source"), progress: nil)
        let download = manager.downloadTask(
            with: request(url.appending(path: "file")), progress: nil, destination: nil)
        (download.taskDescription, upload.taskDescription) = ("saved", "up")
        let numbers = "\(download.taskIdentifier) \(upload.taskIdentifier)"
        try Data(numbers.utf8).write(to: folder.appending(path: "numbers"))
        let bytes = Mutex((sent: Int64(0), written: Int64(0)))
        let killAmidBoth = { @Sendable in
            if bytes.withLock({ $0.sent > 0 && $0.written > 500_000 }) { kill(getpid(), SIGKILL) }
        }
        manager.setTaskDidSendBodyData { _, _, _, sent, _ in
            bytes.withLock { $0.sent = sent }
            killAmidBoth()
        }
        manager.setDownloadTaskDidWriteData { _, _, _, written, _ in
            bytes.withLock { $0.written = written }
            killAmidBoth()
        }
        upload.resume()
        download.resume()
        // Until it is killed.
        try await Task.sleep(for: .seconds(60))
    }

    private static func numbers(in folder: URL) throws -> [Int] {
        try String(contentsOf: folder.appending(path: "numbers"), encoding: .utf8).split(separator: " ")
            .compactMap { Int($0) }
    }

    /// The journal has no tasks, and the folder of the session no files of them.
    private static func expectNothing(in folder: URL) async throws {
        let directory = folder.appending(path: "session")
        let background = try await BackgroundSession("test", directory: directory) { $0.role = .observer }
        let tasks = try await background.tasks
        #expect(tasks.isEmpty)
        await background.shutdown()
        let downloads = try FileManager.default.contentsOfDirectory(atPath: directory.appending(path: "downloads").path)
        #expect(downloads.isEmpty)
    }

    /// A manager starts a task and is gone before it ends; an agent transfers it.
    @Test func anAgentTransfersWhatAProgramHasLeft() async throws {
        server.change { $0.file = makeBytes(100_000) }
        try await server.run { mock in
            try await withFolder { folder in
                let place: String = folder.path
                let url: String = mock.url.absoluteString
                server.change { $0.throttle = .init(bytes: 1000, pause: .milliseconds(50)) }
                await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as String, url = url as String] in
                    try await Self.downloadUntilKilled(URL(filePath: place), try #require(URL(string: url)))
                }
                server.change { $0.throttle = nil }
                let agent = try await BackgroundSession("test", directory: folder.appending(path: "session")) {
                    $0.role = .agent
                }
                try await agent.drained()
                await agent.shutdown()
                let requests = server.requests.count
                let seen = Seen()
                try await withManager(in: folder, { seen.watch($0, folder) }) { manager in
                    manager.operationQueue.isSuspended = true
                    #expect(manager.downloadTasks.count == 1)
                    manager.operationQueue.isSuspended = false
                    try await seen.events.wait { $0.contains { $0.hasPrefix("finished") } }
                }
                #expect(seen.events.events == ["downloaded saved", "completed download true", "finished true"])
                #expect(server.requests.count == requests)
                #expect(try Data(contentsOf: folder.appending(path: "saved")) == makeBytes(100_000))
                try await Self.expectNothing(in: folder)
            }
        }
    }

    private static func downloadUntilKilled(_ folder: URL, _ url: URL) async throws {
        let manager = AFURLSessionManager(sessionConfiguration: configuration(in: folder))
        let download = manager.downloadTask(
            with: request(url.appending(path: "file")), progress: nil, destination: nil)
        download.taskDescription = "saved"
        manager.setDownloadTaskDidWriteData { _, _, _, _, _ in kill(getpid(), SIGKILL) }
        download.resume()
        try await Task.sleep(for: .seconds(60))
    }

    /// A process dies while it reports the end: before the file is moved, and after that.
    @Test(arguments: [false, true]) func anEndThatWasNotReportedIsToldAgain(isMoved: Bool) async throws {
        server.change { $0.file = makeBytes(100_000) }
        try await server.run { mock in
            try await withFolder { folder in
                let place: String = folder.path
                let url: String = mock.url.absoluteString
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [place = place as String, url = url as String, isMoved = isMoved as Bool] in
                    let url = try #require(URL(string: url))
                    try await Self.downloadUntilKilled(URL(filePath: place), url, afterMove: isMoved)
                }
                let saved = folder.appending(path: "saved")
                #expect(FileManager.default.fileExists(atPath: saved.path) == isMoved)
                let seen = Seen()
                try await withManager(in: folder, { seen.watch($0, folder) }) { manager in
                    try await seen.events.wait { $0.contains { $0.hasPrefix("finished") } }
                }
                let end = ["completed download true", "finished true"]
                #expect(seen.events.events == (isMoved ? end : ["downloaded saved"] + end))
                #expect(try Data(contentsOf: saved) == makeBytes(100_000))
                #expect(server.requests.count == 1)
                try await Self.expectNothing(in: folder)
            }
        }
    }

    private static func downloadUntilKilled(_ folder: URL, _ url: URL, afterMove: Bool) async throws {
        let manager = AFURLSessionManager(sessionConfiguration: configuration(in: folder))
        let download = manager.downloadTask(
            with: request(url.appending(path: "file")), progress: nil, destination: nil)
        download.taskDescription = "saved"
        manager.setDownloadTaskDidFinishDownloading { _, _, _ in
            if !afterMove { kill(getpid(), SIGKILL) }
            return folder.appending(path: "saved")
        }
        manager.setTaskDidComplete { _, _, _ in kill(getpid(), SIGKILL) }
        download.resume()
        try await Task.sleep(for: .seconds(60))
    }

    @Test func aSuspendedTaskIsAdoptedAndWaitedForByNoOne() async throws {
        server.change { ($0.file, $0.throttle) = (makeBytes(1_000_000), Self.slow) }
        try await server.run { mock in
            try await withFolder { folder in
                let place: String = folder.path
                let url: String = mock.url.absoluteString
                await #expect(processExitsWith: .signal(SIGKILL)) { [place = place as String, url = url as String] in
                    try await Self.suspendUntilKilled(URL(filePath: place), try #require(URL(string: url)))
                }
                server.change { $0.throttle = nil }
                let seen = Seen()
                try await withManager(in: folder, { seen.watch($0, folder) }) { manager in
                    let task = try #require(manager.downloadTasks.first)
                    #expect(task.state == .suspended && task.countOfBytesReceived > 0)
                    try await seen.events.wait { $0 == ["finished true"] }
                    task.resume()
                    try await seen.events.wait { $0.last == "completed download true" }
                }
                #expect(try Data(contentsOf: folder.appending(path: "saved")) == makeBytes(1_000_000))
            }
        }
    }

    private static func suspendUntilKilled(_ folder: URL, _ url: URL) async throws {
        let manager = AFURLSessionManager(sessionConfiguration: configuration(in: folder))
        let download = manager.downloadTask(
            with: request(url.appending(path: "file")), progress: nil, destination: nil)
        download.taskDescription = "saved"
        manager.setDownloadTaskDidWriteData { _, task, _, written, _ in if written > 200_000 { task.suspend() } }
        download.resume()
        let directory = folder.appending(path: "session")
        _ = manager.tasks
        let background = try await BackgroundSession("test", directory: directory) { $0.role = .observer }
        let events = background.events
        if try await background.tasks.first?.state != .paused {
            for await event in events where event.task?.state == .paused { break }
        }
        kill(getpid(), SIGKILL)
    }

    /// Without tasks of an earlier process, the block is called all the same: a program may wait for it.
    @Test func theEndOfEventsIsToldWithoutTasks() async throws {
        try await withFolder { folder in
            let seen = Seen()
            try await withManager(in: folder, { seen.watch($0, folder) }) { _ in
                let events = try await seen.events.wait(count: 1)
                #expect(events == ["finished true"])
            }
        }
    }

    /// Another manager of the identifier waits for the end of the first, and leaves its tasks alone.
    @Test func oneManagerAtATimeHasTheSession() async throws {
        server.change { $0.file = makeBytes(1000) }
        try await server.run { mock in
            try await withFolder { folder in
                let ends = EventRecorder<String>()
                let second = try await withManager(in: folder) { first in
                    #expect(first.tasks.isEmpty)
                    let second = AFURLSessionManager(sessionConfiguration: configuration(in: folder))
                    #expect(second.tasks.isEmpty)
                    for (name, manager) in [("second", second), ("first", first)] {
                        let task = manager.downloadTask(
                            with: request(try mock.url("/file")), progress: nil,
                            destination: { _, _ in folder.appending(path: name) },
                            completionHandler: { _, _, error in ends.record("\(name) \(error == nil)") })
                        task.resume()
                    }
                    _ = try await ends.wait(count: 1)
                    return second
                }
                #expect(try await ends.wait(count: 2) == ["first true", "second true"])
                let invalidations = EventRecorder<Void>()
                second.setSessionDidBecomeInvalid { _, _ in invalidations.record(()) }
                second.invalidateSessionCancelingTasks(false, resetSession: false)
                try await invalidations.wait(count: 1)
            }
        }
    }
}
