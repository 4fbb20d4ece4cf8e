import Foundation
import Linnet

/// The memory of many waiting requests and of a slow reader.
///
/// ```
/// linnet-soak waiting http://127.0.0.1:8080/1k 1000 8     1,000 concurrent requests over 8 connections, 50 times
/// linnet-soak slow http://127.0.0.1:8080/1g               a body of any size, read in 10 seconds or more
/// ```
struct Memory {
    let url: URL
    let session: HTTPSession

    init(url: String, connections: Int) throws {
        guard let url = URL(string: url) else { throw Wrong() }
        self.url = url
        session = try HTTPSession(baseURL: nil) {
            $0.pool.connectionsPerOrigin = connections
            $0.eventLoops = .dedicated(threads: 1)
        }
    }

    func waiting(_ requests: Int) async throws {
        _ = try await session.call(SessionRequest(url: url)).response()
        let idle = Process.residentKilobytes()
        for _ in 0..<50 {
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<requests {
                    group.addTask { _ = try await session.call(SessionRequest(url: url)).response() }
                }
                try await group.waitForAll()
            }
        }
        tell("\(requests) requests at a time, 50 times", since: idle)
    }

    func slow() async throws {
        let response = try await session.call(SessionRequest(url: url)).bytes()
        let length = response.head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
        let idle = Process.residentKilobytes()
        var (bytes, pauses) = (0, 0)
        for try await chunk in response.body {
            bytes += chunk.count
            guard bytes > pauses * max(length / 1000, 1) else { continue }
            pauses += 1
            try await Task.sleep(for: .milliseconds(10))
        }
        guard bytes == length else { throw Wrong() }
        tell("\(bytes) bytes with \(pauses) pauses of 10 ms", since: idle)
    }

    private func tell(_ what: String, since idle: Int) {
        print("\(what): \(Process.peakKilobytes() - idle) KiB at most over the \(idle) KiB before")
    }

    struct Wrong: Error {}
}
