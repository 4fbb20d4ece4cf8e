import Dispatch
import Foundation
import LinnetAFNetworkingBackground
import LinnetBackground
import LinnetTesting
import Synchronization
import Testing

@testable import LinnetAFNetworkingBackground

/// Tasks of a background session in the process that has started them.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct TransferTests {
    private let server = TransferServer()
    private let ends = EventRecorder<String>()

    private var record: AFURLSessionManager.CompletionBlock {
        { [ends] response, object, error in
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            ends.record("\(status) \(object is [String: Any]) \((error as NSError?)?.code ?? 0)")
        }
    }

    private var recordFile: @Sendable (URLResponse, URL?, (any Error)?) -> Void {
        { [ends] response, file, error in
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            ends.record("\(status) \(file?.lastPathComponent ?? "none") \((error as NSError?)?.code ?? 0)")
        }
    }

    @Test func aDownloadGoesToTheDestinationOfItsBlock() async throws {
        server.change { $0.file = makeBytes(300_000) }
        try await server.run { mock in
            try await withFolder { folder in
                try await withManager(in: folder) { manager in
                    let (fractions, types) = (EventRecorder<Double>(), EventRecorder<String?>())
                    let task = manager.downloadTask(
                        with: request(try mock.url("/file")), progress: { fractions.record($0.fractionCompleted) },
                        destination: { file, response in
                            types.record(response.mimeType)
                            return folder.appending(path: "chosen")
                        }, completionHandler: recordFile)
                    #expect(task.state == .suspended)
                    task.resume()
                    #expect(manager.downloadTasks == [task] && task.state == .running)
                    #expect(try await ends.wait(count: 1) == ["200 chosen 0"])
                    #expect(fractions.events.last == 1 && types.events == ["text/plain"])
                    #expect(task.state == .completed && manager.tasks.isEmpty)
                }
                #expect(try Data(contentsOf: folder.appending(path: "chosen")) == makeBytes(300_000))
            }
        }
    }

    @Test func withoutADestinationTheFileIsTemporary() async throws {
        server.change { $0.file = makeBytes(10) }
        try await server.run { mock in
            try await withFolder { folder in
                let files = EventRecorder<URL?>()
                try await withManager(in: folder) { manager in
                    let task = manager.downloadTask(
                        with: request(try mock.url("/file")), progress: nil, destination: nil,
                        completionHandler: { _, file, _ in files.record(file) })
                    task.resume()
                    let file = try #require(try await files.wait(count: 1)[0])
                    #expect(try Data(contentsOf: file) == makeBytes(10))
                    #expect(!file.path.hasPrefix(folder.path))
                    try FileManager.default.removeItem(at: file)
                }
            }
        }
    }

    @Test func aFileThatCannotBeMovedIsAnError() async throws {
        server.change { $0.file = makeBytes(10) }
        try await server.run { mock in
            try await withFolder { folder in
                try await withManager(in: folder) { manager in
                    let task = manager.downloadTask(
                        with: request(try mock.url("/file")), progress: nil,
                        destination: { _, _ in folder.appending(path: "missing/file") }, completionHandler: recordFile)
                    let notifications = Notifications(of: [task.taskIdentifier])
                    defer { notifications.stop() }
                    task.resume()
                    #expect(try await ends.wait(count: 1) == ["200 none \(NSURLErrorCannotWriteToFile)"])
                    try await notifications.names.wait(count: 2)
                    #expect(notifications.names.events == ["download not moved", "download complete"])
                }
                let downloads = folder.appending(path: "session/downloads").path
                #expect(try FileManager.default.contentsOfDirectory(atPath: downloads).isEmpty)
            }
        }
    }

    @Test func anUploadsResponseIsReadByTheSerializer() async throws {
        try await server.run { mock in
            try await withFolder { folder in
                let file = folder.appending(path: "source")
                try makeBytes(200_000).write(to: file)
                try await withManager(in: folder) { manager in
                    let fractions = EventRecorder<Double>()
                    for upload in [MockResponse.json("{}"), .json("{}", status: .notFound)] {
                        server.change { $0.upload = upload }
                        let task = manager.uploadTask(
                            with: request(try mock.url("/up"), "PUT"), fromFile: file,
                            progress: { fractions.record($0.fractionCompleted) }, completionHandler: record)
                        task.resume()
                        #expect(manager.uploadTasks == [task] && manager.dataTasks.isEmpty)
                        try await ends.wait { $0.last?.hasPrefix("\(upload.status.code)") == true }
                    }
                    #expect(ends.events == ["200 true 0", "404 true \(NSURLErrorBadServerResponse)"])
                    #expect(fractions.events.contains(1))
                }
                #expect(server.uploads.map(\.body.count) == [200_000, 200_000])
            }
        }
    }

    @Test func anErrorPageDoesNotBecomeAFile() async throws {
        try await server.run { mock in
            try await withFolder { folder in
                try await withManager(in: folder) { manager in
                    let errors = EventRecorder<NSError?>()
                    let task = manager.downloadTask(
                        with: request(try mock.url("/missing")), progress: nil,
                        destination: { _, _ in folder.appending(path: "chosen") },
                        completionHandler: { _, _, error in errors.record(error as NSError?) })
                    task.resume()
                    let error = try #require(try await errors.wait(count: 1)[0])
                    #expect(error.code == NSURLErrorBadServerResponse)
                    let page = error.userInfo[AFNetworkingOperationFailingURLResponseDataErrorKey] as? Data
                    #expect(page == Data("no such page".utf8))
                    let response = error.userInfo[AFNetworkingOperationFailingURLResponseErrorKey] as? HTTPURLResponse
                    #expect(response?.statusCode == 404)
                }
                #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "chosen").path))
            }
        }
    }

    // MARK: Control

    @Test func aTaskIsSuspendedResumedAndCancelled() async throws {
        server.change {
            ($0.file, $0.throttle) = (makeBytes(1_000_000), .init(bytes: 64 << 10, pause: .milliseconds(20)))
        }
        try await server.run { mock in
            try await withFolder { folder in
                try await withManager(in: folder) { manager in
                    let bytes = EventRecorder<Int64>()
                    manager.setDownloadTaskDidWriteData { _, task, _, written, _ in
                        if bytes.events.isEmpty { task.suspend() }
                        bytes.record(written)
                    }
                    let tasks = try (0..<2).map { _ in
                        manager.downloadTask(
                            with: request(try mock.url("/file")), progress: nil, destination: nil,
                            completionHandler: recordFile)
                    }
                    tasks[0].resume()
                    try await bytes.wait(count: 1)
                    #expect(tasks[0].state == .suspended)
                    tasks[0].resume()
                    try await bytes.wait { ($0.last ?? 0) > 500_000 }
                    tasks[0].cancel()
                    let end = try await ends.wait(count: 1)[0]
                    #expect(end.hasSuffix("none \(NSURLErrorCancelled)"))
                    // One that has not started ends too.
                    tasks[1].cancel()
                    #expect(try await ends.wait(count: 2)[1] == "0 none \(NSURLErrorCancelled)")
                    #expect(manager.tasks.isEmpty)
                }
            }
        }
    }

    /// AFNetworking's own expectation of background sessions.
    @Test(arguments: [true, false]) func resumingAndSuspendingPostNotifications(isDownload: Bool) async throws {
        try await withFolder { folder in
            try Data().write(to: folder.appending(path: "source"))
            try await withManager(in: folder) { manager in
                let request = request(try #require(URL(string: "http://127.0.0.1:9/x")))
                let task: URLSessionTask =
                    isDownload
                    ? manager.downloadTask(with: request, progress: nil, destination: nil)
                    : manager.uploadTask(with: request, fromFile: folder.appending(path: "source"), progress: nil)
                let notifications = Notifications(
                    of: [task.taskIdentifier],
                    [(.AFNetworkingTaskDidResume, "resumed"), (.AFNetworkingTaskDidSuspend, "suspended")])
                defer { notifications.stop() }
                let kind = isDownload ? "download" : "upload"
                task.resume()
                try await notifications.names.wait(count: 1)
                task.suspend()
                #expect(try await notifications.names.wait(count: 2) == ["\(kind) resumed", "\(kind) suspended"])
            }
        }
    }

    @Test func anInvalidatedSessionCancelsItsTasksAndRefusesOthers() async throws {
        server.change {
            ($0.file, $0.throttle) = (makeBytes(1_000_000), .init(bytes: 64 << 10, pause: .milliseconds(20)))
        }
        try await server.run { mock in
            try await withFolder { folder in
                try await withManager(in: folder) { manager in
                    let started = EventRecorder<Void>()
                    manager.setDownloadTaskDidWriteData { _, _, _, _, _ in started.record(()) }
                    let tasks = try (0..<2).map { _ in
                        manager.downloadTask(
                            with: request(try mock.url("/file")), progress: nil, destination: nil,
                            completionHandler: recordFile)
                    }
                    tasks[0].resume()
                    try await started.wait(count: 1)
                    manager.invalidateSessionCancelingTasks(true, resetSession: false)
                    try await ends.wait(count: 1)
                    tasks[1].resume()
                    let end = try await ends.wait(count: 2)
                    #expect(end.allSatisfy { $0.hasSuffix("none \(NSURLErrorCancelled)") })
                }
            }
        }
    }

    // MARK: Refusals

    @Test func onlyDownloadsAndUploadsOfFilesAreAccepted() async throws {
        try await withFolder { folder in
            try await withManager(in: folder) { manager in
                let request = request(try #require(URL(string: "http://127.0.0.1:9/x")))
                let tasks = [
                    manager.dataTask(
                        with: request, uploadProgress: nil, downloadProgress: nil, completionHandler: record),
                    manager.uploadTask(with: request, from: Data(), progress: nil, completionHandler: record),
                    manager.uploadTask(withStreamedRequest: request, progress: nil, completionHandler: record),
                    manager.downloadTask(
                        withResumeData: Data(), progress: nil, destination: nil, completionHandler: recordFile),
                ]
                for task in tasks { task.resume() }
                let all = try await ends.wait(count: 4)
                #expect(all.allSatisfy { $0.hasSuffix(" \(NSURLErrorBadURL)") }, "\(all)")
            }
        }
    }

    @Test func aVerbFailsInABackgroundSession() async throws {
        try await withFolder { folder in
            let client = AFHTTPSessionManager(
                baseURL: URL(string: "http://127.0.0.1:9"), sessionConfiguration: configuration(in: folder))
            client.completionQueue = DispatchQueue(label: "linnet.test.completion")
            let texts = EventRecorder<String>()
            client.get("x", failure: { _, error in texts.record(error.localizedDescription) })
            let end = try await texts.wait(count: 1)[0]
            #expect(end.contains("neither data tasks"))
            client.invalidateSessionCancelingTasks(true, resetSession: false)
        }
    }

    @Test func aCredentialIsStoredOnlyIfTheProgramSaysSo() async throws {
        server.change { $0.file = makeBytes(10) }
        try await server.run { mock in
            try await withFolder { folder in
                for stores in [false, true] {
                    let configuration = configuration(in: folder)
                    configuration.storesSecrets = stores
                    let manager = AFURLSessionManager(sessionConfiguration: configuration)
                    var request = request(try mock.url("/file"))
                    request.setValue("Bearer abc", forHTTPHeaderField: "Authorization")
                    let texts = EventRecorder<String>()
                    let task = manager.downloadTask(
                        with: request, progress: nil, destination: { _, _ in folder.appending(path: "chosen") },
                        completionHandler: { _, file, error in
                            texts.record(error?.localizedDescription ?? file?.lastPathComponent ?? "")
                        })
                    task.resume()
                    let text = try await texts.wait(count: 1)[0]
                    #expect(stores ? text == "chosen" : text.contains("storesSecrets"), "\(text)")
                    let invalidations = EventRecorder<Void>()
                    manager.setSessionDidBecomeInvalid { _, _ in invalidations.record(()) }
                    manager.invalidateSessionCancelingTasks(false, resetSession: false)
                    try await invalidations.wait(count: 1)
                }
                #expect(server.requests.map { $0.headerFields[.authorization] } == ["Bearer abc"])
            }
        }
    }

    /// The commands of two threads can come in another order than their changes of the transfer.
    @Test func aTransferThatWasSuspendedBeforeItIsStoredIsPaused() async throws {
        try await withFolder { folder in
            var settings = BackgroundSettings(identifier: "test") { JournalEngine($0, $1, $2) }
            settings.directory = folder.appending(path: "session")
            let http = try HTTPSession(configuration: .ephemeral)
            let engine = JournalEngine(settings, http) { $0() }
            let opened = Signal()
            engine.open { _ in opened.fire() }
            await opened.wait()
            let transfer = BackgroundTransfer(
                adopted: 1, .download, of: SessionRequest(url: try #require(URL(string: "http://127.0.0.1:9/x"))),
                description: nil, isSuspended: true, progress: TransferProgress(), by: engine, execute: engine.execute)
            // Resumed, and suspended at once.
            engine.suspend(transfer)
            engine.add(transfer)
            let observer = try await BackgroundSession("test", directory: folder.appending(path: "session")) {
                $0.role = .observer
            }
            while try await observer.tasks.first?.state != .paused { try await Task.sleep(for: .milliseconds(5)) }
            await observer.shutdown()
            let closings = EventRecorder<Void>()
            engine.close(.leaving) { closings.record(()) }
            try await closings.wait(count: 1)
            await http.shutdown(.immediate)
        }
    }

    /// Also those that come after the session has ended.
    @Test func everyClosingIsAnswered() async throws {
        try await withFolder { folder in
            var settings = BackgroundSettings(identifier: "test") { JournalEngine($0, $1, $2) }
            settings.directory = folder.appending(path: "session")
            let http = try HTTPSession(configuration: .ephemeral)
            let engine = JournalEngine(settings, http) { $0() }
            let closings = EventRecorder<Int>()
            engine.open { _ in }
            engine.close(.finishing) { closings.record(1) }
            engine.close(.cancelling) { closings.record(2) }
            try await closings.wait(count: 2)
            engine.close(.leaving) { closings.record(3) }
            try await closings.wait(count: 3)
            await http.shutdown(.immediate)
        }
    }

    @Test func aSessionThatCannotBeOpenedFailsItsTasks() async throws {
        try await withFolder { folder in
            try Data().write(to: folder.appending(path: "session"))
            try await withManager(in: folder) { manager in
                let task = manager.downloadTask(
                    with: request(try #require(URL(string: "http://127.0.0.1:9/x"))), progress: nil, destination: nil,
                    completionHandler: recordFile)
                task.resume()
                let end = try await ends.wait(count: 1)[0]
                #expect(end.hasSuffix("none \(NSURLErrorCannotWriteToFile)"))
            }
        }
    }

    // MARK: Stored things

    @Test func aManagerIsNotArchived() async throws {
        try await withFolder { folder in
            try await withManager(in: folder) { manager in
                #expect(manager.session.configuration.identifier == "test")
                let data = try NSKeyedArchiver.archivedData(withRootObject: manager, requiringSecureCoding: true)
                let decoded = try? NSKeyedUnarchiver.unarchivedObject(ofClass: AFURLSessionManager.self, from: data)
                #expect(decoded == nil)
            }
        }
    }

    @Test func anUploadIsStoredAfterThreeFailures() async throws {
        for (attempts, failures, isStored) in [(1, 1, false), (4, 3, true), (4, 4, false)] {
            var left = failures
            let stored = try? await JournalEngine.trying(attempts) { () async throws(BackgroundError) in
                left -= 1
                if left >= 0 { throw BackgroundError(.storageFailed, "The journal is locked.") }
                return true
            }
            #expect((stored == true) == isStored)
        }
        // Other errors would be the same again.
        var count = 0
        let refused = try? await JournalEngine.trying(4) { () async throws(BackgroundError) -> Bool in
            count += 1
            throw BackgroundError(.credentialRefused, "The field is a credential.")
        }
        #expect(refused == nil && count == 1)
    }
}
