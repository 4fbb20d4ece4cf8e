import Foundation
import Linnet

/// Sends many GET requests over a few connections, checks every response, and prints rate and memory.
///
/// ```
/// swift run -c release --package-path Benchmarks linnet-soak http://127.0.0.1:8080/1k 200000 32
/// ```
///
/// Each request has its number in the query. Its response must have the status and length of the first one. The exit
/// code is 1 when a request was lost, when descriptors are left, or when memory continued to grow after the first
/// tenth.
@main
struct Soak {
    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count >= 3, arguments[1] == "slow" {
            return try await Memory(url: arguments[2], connections: 1).slow()
        }
        if arguments.count >= 5, arguments[1] == "waiting", let requests = Int(arguments[3]),
            let connections = Int(arguments[4])
        {
            return try await Memory(url: arguments[2], connections: connections).waiting(requests)
        }
        guard arguments.count >= 4, let requests = Int(arguments[2]), let connections = Int(arguments[3]),
            requests > 0, connections > 0
        else {
            print("usage: linnet-soak URL REQUESTS CONNECTIONS [CA.pem]")
            print("       linnet-soak waiting URL REQUESTS CONNECTIONS")
            print("       linnet-soak slow URL")
            exit(64)
        }
        let anchors = arguments.count > 4 ? try TrustAnchors.file(arguments[4]) : .system
        // A first session opens the process-wide descriptors, such as Dispatch's event queue.
        let first = try Soak(url: arguments[1], connections: connections, anchors: anchors)
        let length = try await first.get(0).count
        await first.session.shutdown()
        let before = Process.descriptors()
        let soak = try Soak(url: arguments[1], connections: connections, anchors: anchors)
        let warm = requests / 10
        try await soak.run(warm, length: length)
        let memoryBefore = Process.residentKilobytes()
        let clock = ContinuousClock()
        let time = try await clock.measure { try await soak.run(requests - warm, length: length) }
        let memoryAfter = Process.residentKilobytes()
        await soak.session.shutdown()
        let after = Process.descriptors()
        let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
        print("requests: \(requests), all with status 200 and \(length) bytes")
        print("requests per second: \(Int(Double(requests - warm) / seconds))")
        print("resident memory: \(memoryBefore) KiB after \(warm) requests, \(memoryAfter) KiB after all")
        print("descriptors: \(before) before, \(after) after")
        if memoryAfter > memoryBefore + memoryBefore / 10 || after > before { exit(1) }
    }

    let session: HTTPSession
    let url: String
    let connections: Int

    init(url: String, connections: Int, anchors: TrustAnchors) throws {
        self.url = url
        self.connections = connections
        session = try HTTPSession(baseURL: nil) {
            $0.pool.connectionsPerOrigin = connections
            // Dedicated threads, which end with the session: shared ones keep their descriptors.
            $0.eventLoops = .dedicated(threads: 1)
            $0.securityPolicy = .everyHost(
                StandardTrustEvaluator.systemTrust(anchors: anchors).insecureAllowingCleartext())
        }
    }

    func run(_ requests: Int, length: Int) async throws {
        try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<connections {
                group.addTask {
                    var count = 0
                    for number in stride(from: worker, to: requests, by: connections) {
                        let body = try await get(number)
                        guard body.count == length else { throw Wrong(number: number, length: body.count) }
                        count += 1
                    }
                    return count
                }
            }
            let done = try await group.reduce(0, +)
            guard done == requests else { throw Wrong(number: done, length: -1) }
        }
    }

    func get(_ number: Int) async throws -> Data {
        let response = try await session.get("\(url)?n=\(number)").response()
        return response.value
    }

    struct Wrong: Error {
        var number: Int
        var length: Int
    }
}

/// Figures of the kernel about this process.
enum Process {
    static func descriptors() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    static func residentKilobytes() -> Int { kilobytes("VmRSS:") }

    static func peakKilobytes() -> Int { kilobytes("VmHWM:") }

    private static func kilobytes(_ name: String) -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix(name) }
        return line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
    }
}
