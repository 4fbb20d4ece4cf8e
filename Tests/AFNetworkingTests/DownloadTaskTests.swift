import Dispatch
import Foundation
import LinnetAFNetworking
import LinnetTesting
import Synchronization
import Testing

/// Data tasks that become downloads, and downloads that are resumed.
@Suite(.leavesNothingAlive, .timeLimit(.minutes(5)))
struct DownloadTaskTests {
    private let ends = EventRecorder<String>()

    private func manager(_ transport: StubTransport) -> AFURLSessionManager {
        var configuration = HTTPSession.Configuration()
        configuration.progressInterval = .zero
        let manager = AFURLSessionManager(
            sessionConfiguration: URLSessionConfiguration(configuration, transport: transport))
        manager.responseSerializer = AFHTTPResponseSerializer()
        manager.completionQueue = DispatchQueue(label: "linnet.test.completion")
        return manager
    }

    private func request() throws -> URLRequest {
        URLRequest(url: try #require(URL(string: "http://example.com/x")))
    }

    private var record: AFURLSessionManager.CompletionBlock {
        { [ends] response, object, error in
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            let file = (object as? URL).flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? "none"
            ends.record("end \(status) \(file) \((error as NSError?)?.code ?? 0)")
        }
    }

    /// A manager whose data tasks become downloads.
    private func convertingManager(_ response: StubTransport.Response) -> AFURLSessionManager {
        let manager = manager(StubTransport { _ in response })
        manager.setDataTaskDidReceiveResponse { _, _, _ in .becomeDownload }
        return manager
    }

    @Test func aDataTaskBecomesADownload() async throws {
        let manager = convertingManager(.status(200, body: Data("abc".utf8)))
        let (calls, identifiers) = (ends, EventRecorder<Int>())
        manager.setDataTaskDidBecomeDownloadTask { [weak manager] session, task, download in
            let isInPlace = manager?.downloadTasks == [download] && manager?.dataTasks.isEmpty == true
            let isOfSession = manager?.session === session && download.state == .running
            identifiers.record(task.taskIdentifier)
            identifiers.record(download.taskIdentifier)
            let status = (download.response as? HTTPURLResponse)?.statusCode ?? 0
            calls.record("became \(isInPlace && isOfSession) \(status)")
        }
        manager.setDownloadTaskDidWriteData { _, _, bytes, all, total in calls.record("wrote \(bytes) \(all) \(total)")
        }
        manager.setDataTaskDidReceiveData { _, _, _ in calls.record("data") }
        manager.setTaskDidComplete { _, task, error in
            calls.record("complete \(task is URLSessionDownloadTask) \(error == nil)")
        }
        let task = manager.dataTask(
            with: try request(), uploadProgress: nil, downloadProgress: nil, completionHandler: record)
        task.resume()
        let all = try await calls.wait { $0.contains { $0.hasPrefix("end") } }
        #expect(all == ["became true 200", "wrote 3 3 3", "complete true true", "end 200 abc 0"])
        #expect(identifiers.events == [1, 2] && manager.tasks.isEmpty)
        #expect(task.state == .completed && task.error == nil)
    }

    @Test func theBlockOfDownloadsChoosesTheDestination() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "linnet-af-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let manager = convertingManager(.status(200, body: Data("abc".utf8)))
        manager.setDownloadTaskDidFinishDownloading { _, _, _ in folder.appending(path: "chosen") }
        manager.dataTask(with: try request(), completionHandler: record).resume()
        #expect(try await ends.wait(count: 1) == ["end 200 abc 0"])
        let text = try String(contentsOf: folder.appending(path: "chosen"), encoding: .utf8)
        #expect(text == "abc")
    }

    @Test func anErrorPageDoesNotBecomeAFile() async throws {
        let manager = convertingManager(.status(404, body: Data("page".utf8)))
        manager.dataTask(with: try request(), completionHandler: record).resume()
        #expect(try await ends.wait(count: 1) == ["end 404 none \(NSURLErrorBadServerResponse)"])
    }

    @Test(arguments: [true, false])
    func theDownloadIsCancelledByEitherTask(isByDownload: Bool) async throws {
        let body = StubTransport.Body()
        let manager = convertingManager(.stream(body))
        let downloads = EventRecorder<URLSessionDownloadTask>()
        manager.setDataTaskDidBecomeDownloadTask { _, _, download in downloads.record(download) }
        let task = manager.dataTask(with: try request(), completionHandler: record)
        task.resume()
        let download = try await downloads.wait(count: 1)[0]
        let produced = EventRecorder<Bool>()
        if isByDownload { download.cancel { produced.record($0 == nil) } } else { task.cancel() }
        #expect(try await ends.wait(count: 1) == ["end 200 none \(NSURLErrorCancelled)"])
        if isByDownload { #expect(try await produced.wait(count: 1) == [true]) }
        #expect(download.state == .completed && manager.tasks.isEmpty)
        #expect((download.error as NSError?)?.code == NSURLErrorCancelled)
        body.finish()
    }

    @Test func aDownloadResumesFromTheDataOfItsError() async throws {
        let (bytes, stop) = (makeBytes(3_000_000), 1_000_000)
        let handler: MockServer.Handler = { request in
            let isRest = request.headerFields[.range] != nil
            let fields: HTTPFields = [
                .eTag: "\"v1\"", .acceptRanges: "bytes",
                .contentRange: isRest ? "bytes \(stop)-\(bytes.count - 1)/\(bytes.count)" : "bytes *",
            ]
            guard isRest else {
                return MockResponse(headerFields: fields, body: .bytes(bytes))
                    .with(MockServer.Fault(.stall, at: .responseBody(after: stop)))
            }
            return MockResponse(status: .partialContent, headerFields: fields, body: .bytes(bytes.dropFirst(stop)))
        }
        try await withMockServer(handler: handler) { server in
            try await withScratchFolder { folder in
                let manager = AFURLSessionManager()
                manager.completionQueue = DispatchQueue(label: "linnet.test.completion")
                let url = try server.url("/large")
                let written = EventRecorder<Int64>()
                let task = manager.downloadTask(
                    with: URLRequest(url: url), progress: { written.record($0.completedUnitCount) },
                    destination: { _, _ in folder["first"] })
                task.resume()
                try await written.wait { $0.last == Int64(stop) }
                let produced = EventRecorder<Data?>()
                task.cancel { produced.record($0) }
                let data = try #require(try await produced.wait(count: 1)[0])
                let resumed = EventRecorder<String>()
                manager.setDownloadTaskDidResume { _, _, offset, total in resumed.record("\(offset) \(total)") }
                let files = EventRecorder<URL?>()
                manager.downloadTask(
                    withResumeData: data, progress: nil, destination: { _, _ in folder["second"] },
                    completionHandler: { _, file, _ in files.record(file) }
                ).resume()
                let file = try await files.wait(count: 1)[0]
                #expect(file?.lastPathComponent == "second" && resumed.events == ["\(stop) \(bytes.count)"])
                #expect(try Data(contentsOf: folder["second"]) == bytes)
                manager.invalidateSessionCancelingTasks(true, resetSession: false)
            }
        }
    }
}
