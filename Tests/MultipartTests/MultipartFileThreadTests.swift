import FoundationEssentials
import LinnetMultipart
import LinnetSerialization
import LinnetTesting
import Synchronization
import Testing

/// Files of a form are read on the threads for files, not on the threads that read the body.
@Suite(.timeLimit(.minutes(5)))
struct MultipartFileThreadTests {
    /// Queues jobs until it runs them on demand.
    private final class HeldExecutor: TaskExecutor {
        private let jobs = Mutex<[UnownedJob]>([])
        let arrivals = EventRecorder<Void>()

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            jobs.withLock { $0.append(job) }
            arrivals.record(())
        }

        func runAll() {
            let waiting = jobs.withLock { jobs in
                defer { jobs = [] }
                return jobs
            }
            for job in waiting { job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    private func read(_ form: MultipartForm, on executor: HeldExecutor) -> Task<Data, any Error> {
        Task {
            var reader = try form.makeBody().makeReader(readingFilesOn: FileThreads(executor))
            var body = Data()
            while let chunk = try await reader.next() { body.append(chunk) }
            return body
        }
    }

    @Test(arguments: [0, 1, 100_000, 2 * FileThreads.pieceSize + 1])
    func partsThatAreFiles(size: Int) async throws {
        let bytes = Data((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let file = try TemporaryFile(bytes)
        var form = MultipartForm()
        form.append("before", name: "a")
        try form.append(fileAt: file.url, name: "f")
        try form.append(.file(file.url), name: "b")
        let executor = HeldExecutor()
        let reading = read(form, on: executor)
        // One job to open each file, and one for each of its pieces.
        try await executor.arrivals.wait(count: 1)
        let isDone = EventRecorder<Void>()
        let running = Task {
            while isDone.events.isEmpty {
                executor.runAll()
                await Task.yield()
            }
        }
        let body = try await reading.value
        isDone.record(())
        await running.value
        #expect(body == (try await collect(form)))
        #expect(body.count == form.contentLength.map { Int($0) })
    }

    @Test func missingFileIsATypedError() async throws {
        let file = try TemporaryFile(Data("12345".utf8))
        var form = MultipartForm()
        try form.append(fileAt: file.url, name: "f")
        try FileManager.default.removeItem(at: file.url)
        let executor = HeldExecutor()
        let reading = read(form, on: executor)
        try await executor.arrivals.wait(count: 1)
        executor.runAll()
        let error = await #expect(throws: MultipartError.self) { try await reading.value }
        #expect(error?.code == .fileChanged)
    }
}
