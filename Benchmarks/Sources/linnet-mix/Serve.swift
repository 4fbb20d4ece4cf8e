import BenchMemory
import Foundation
import HTTPTypes
import LinnetTesting
import Synchronization

/// The server of a lane: runs when the program is called with `serve LANE ADDRESS PORT PROXY-PORT LEDGER`.
enum Serve {
    /// Serves until standard input ends. The first line of output has the port, the proxy's port or 0, the root
    /// certificate in Base64, and the pin.
    static func run(_ words: [String]) async throws {
        guard words.count == 5, let lane = Lane.Name(rawValue: words[0]), let port = Int(words[2]),
            let proxyPort = Int(words[3])
        else { throw Failure("The arguments of the server are invalid.") }
        let pki = try TestPKI()
        let identity = try pki.identity { $0.addresses = ["127.0.0.1", words[1]] }
        let responder = Responder(try Ledger(words[4]))
        let isRemote = words[1] != "127.0.0.1"
        let configuration = MockServer.Configuration {
            $0.port = isRemote ? 0 : port
            $0.httpVersions = lane.isHTTP2 ? .http2 : .http1
            $0.requestBodies = .streamed
            $0.issuesSessionTickets = true
            $0.faults = .init { $0.request.map(responder.faults) ?? [] }
        }
        let server = try await MockServer.start(
            tls: lane.hasTLS ? identity : nil, configuration: configuration, handler: responder.respond)
        var outer = server.port
        var proxy: FaultProxy?
        if isRemote { outer = try await Relay.start(from: words[1], port, to: server.port) }
        var entrance = 0
        if lane == .proxy {
            let fault = try await FaultProxy.start()
            proxy = fault
            entrance = try await Relay.start(from: "127.0.0.1", proxyPort, to: fault.port)
        }
        tell("\(outer) \(entrance) \(Data(pki.rootPEM.utf8).base64EncodedString()) \(identity.pin)")
        while let line = readLine() {
            if let conditions = conditions(line) { proxy?.conditions = conditions }
        }
        exit(0)
    }

    /// The conditions of the proxy: `LATENCY-MS BYTES-PER-SECOND CUT-AFTER`, each 0 for none.
    private static func conditions(_ line: String) -> FaultProxy.Conditions? {
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 3 else { return nil }
        var conditions = FaultProxy.Conditions()
        conditions.latency = .milliseconds(numbers[0])
        conditions.bytesPerSecond = numbers[1] == 0 ? nil : numbers[1]
        conditions.cut = numbers[2] == 0 ? nil : .init(.reset, after: numbers[2], of: .fromServer)
        return conditions
    }
}
