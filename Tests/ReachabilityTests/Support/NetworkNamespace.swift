import Glibc

@testable import LinnetReachability

/// An empty network namespace, which is removed when its owner is deinitialized.
final class NetworkNamespace: Sendable {
    let name: String

    init() throws {
        name = "linnet-\(UInt32.random(in: .min ... .max))"
        try output(of: ["ip", "netns", "add", name])
    }

    deinit { _ = try? output(of: ["ip", "netns", "del", name]) }

    /// Whether namespaces can be created, which requires root and iproute2.
    static let areAvailable: Bool = geteuid() == 0 && (try? NetworkNamespace()) != nil

    /// Runs `ip` in the namespace with the words of a line as its arguments.
    @discardableResult
    func ip(_ line: String) throws -> String {
        try output(of: ["ip", "-n", name] + line.split(separator: " ").map(String.init))
    }

    /// Runs several `ip` commands in one process.
    func ip(batch lines: [String]) throws {
        let script = "printf '%s\\n' \"$@\" | ip -n \(name) -batch -"
        try output(of: ["sh", "-c", script, "sh"] + lines)
    }

    /// Creates two connected interfaces, sets both up, and assigns an address to the first. It is up then, which the
    /// kernel notes after the call that sets it up.
    func addPair(_ name: String, address: String) throws {
        try ip("link add \(name) type veth peer name \(name)-peer")
        try ip("link set \(name)-peer up")
        try ip("link set \(name) up")
        try ip("address add \(address) dev \(name)")
        let view = KernelView(namespace: self)
        while try view.links()[name]?.isUp != true {}
    }

    /// Creates a monitor for this namespace.
    func makeMonitor(debounce: Duration = .milliseconds(20)) async throws -> ReachabilityMonitor {
        try await perform { try ReachabilityMonitor { $0.debounce = debounce } }
    }

    /// Calls a closure on a thread in the namespace.
    func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        let path = "/run/netns/\(name)"
        var thread: MonitoringThread?
        defer { thread?.join() }
        return try await withCheckedThrowingContinuation { continuation in
            do {
                thread = try MonitoringThread {
                    continuation.resume(
                        with: Result {
                            try Self.enter(path)
                            return try body()
                        })
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
    }

    private struct CannotEnter: Error {}

    /// Moves the calling thread into a namespace permanently.
    private static func enter(_ path: String) throws {
        typealias SetNamespace = @convention(c) (Int32, Int32) -> Int32
        // The Glibc module does not export setns.
        guard let symbol = dlsym(nil, "setns") else { throw CannotEnter() }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        guard unsafeBitCast(symbol, to: SetNamespace.self)(descriptor, 0x4000_0000) == 0 else { throw CannotEnter() }
    }
}
