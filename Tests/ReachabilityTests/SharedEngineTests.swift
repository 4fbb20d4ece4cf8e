import CommandSupport
import Glibc
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct SharedEngineTests {
        /// The new sockets of the process. Other work in it opens other descriptors.
        private func newSockets(since before: Set<String> = []) -> Set<String> {
            Set(Folder.entries("/proc/self/fd").compactMap { Folder.link("/proc/self/fd/\($0)") })
                .filter { $0.hasPrefix("socket:") }.subtracting(before)
        }

        private let threads = ProcessThreads(NetworkEngine.threadName)

        @Test func aThousandMonitorsHaveOneThreadAndThreeDescriptors() async throws {
            #expect(try await threads.end())
            // The first monitor starts threads that the Swift runtime keeps.
            try ReachabilityMonitor().stop()
            let before = newSockets()
            let monitors = try (0..<1000).map { number in
                number.isMultiple(of: 2) ? try ReachabilityMonitor() : try ReachabilityMonitor(address: "127.0.0.1")
            }
            #expect(newSockets(since: before).count == 3)
            #expect(threads.count == 1)
            for monitor in monitors.dropFirst() { monitor.stop() }
            #expect(newSockets(since: before).count == 3)
            monitors.first?.stop()
            #expect(newSockets(since: before).isEmpty)
            #expect(try await threads.end())
        }

        @Test func monitorsThatNothingChangesForHaveNoDeadline() {
            let now = ContinuousClock.now
            let hub = StatusHub(status: .unknown)
            let publisher = hub
            for target in [MonitorTarget.network, .address(.init(family: .ipv4, bytes: [127, 0, 0, 1]))] {
                var member = EngineMember(id: 1, target, .init(), .system, publisher: publisher, run: 0)
                #expect(member.deadline == nil)
                member.debouncer.noticeChange(at: now)
                #expect(member.debouncer.takeDeadline(at: now.advanced(by: .seconds(1))) == true)
                #expect(member.deadline == nil)
                #expect(PollTimeout.until(member.deadline, at: now) == -1)
            }
        }
    }
}

/// Reads folders and files of `/proc`.
enum Folder {
    /// The target of a symbolic link; nil for anything else.
    static func link(_ path: String) -> String? {
        var text = [CChar](repeating: 0, count: 4096)
        let count = readlink(path, &text, text.count)
        return count > 0 ? String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
    }

    static func entries(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            // Read in place, because copying the whole struct would read past the last entry.
            let offset = MemoryLayout<dirent>.offset(of: \.d_name) ?? 0
            let name = UnsafeRawPointer(entry).advanced(by: offset).assumingMemoryBound(to: CChar.self)
            names.append(String(cString: name))
        }
        return names
    }

    /// The number of pages of this process in memory.
    static var residentPages: Int {
        text("/proc/self/statm")?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    }

    /// The first line of a file.
    static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = read(file, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count].prefix { $0 != 10 }, as: UTF8.self)
    }
}
