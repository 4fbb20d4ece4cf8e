internal import FoundationEssentials

/// The threads of this process, by the beginning of their names.
public struct ProcessThreads: Sendable {
    private let name: String

    /// The threads with this prefix in their names.
    public init(_ name: String) {
        self.name = name
    }

    /// How many the kernel lists.
    public var count: Int {
        let folder = "/proc/self/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return threads.count { thread in
            let found = try? String(contentsOf: URL(filePath: "\(folder)/\(thread)/comm"), encoding: .utf8)
            return found?.hasPrefix(name) ?? false
        }
    }

    /// Waits until there is none. Returns false after 10 seconds: the kernel may list a thread shortly after it was
    /// joined.
    public func end() async throws -> Bool {
        let deadline = ContinuousClock.now + .seconds(10)
        while count > 0 {
            guard .now < deadline else { return false }
            try await Task.sleep(for: .milliseconds(5))
        }
        return true
    }
}
