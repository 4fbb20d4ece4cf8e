import Glibc
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct SharedEngineTests {
        private func descriptors() -> Int { Folder.entries("/proc/self/fd").count { Int32($0) != nil } }

        private func threads() -> Int {
            Folder.entries("/proc/self/task").count { task in
                Folder.text("/proc/self/task/\(task)/comm") == NetworkEngine.threadName
            }
        }

        @Test func aThousandMonitorsHaveOneThreadAndThreeDescriptors() throws {
            #expect(threads() == 0)
            // The first monitor starts what the Swift runtime keeps.
            try ReachabilityMonitor().stop()
            let before = descriptors()
            let monitors = try (0..<1000).map { number in
                number.isMultiple(of: 2) ? try ReachabilityMonitor() : try ReachabilityMonitor(address: "127.0.0.1")
            }
            #expect(descriptors() == before + 3)
            #expect(threads() == 1)
            for monitor in monitors.dropFirst() { monitor.stop() }
            #expect(descriptors() == before + 3)
            monitors.first?.stop()
            #expect(descriptors() == before)
            #expect(threads() == 0)
        }

        @Test func monitorsThatNothingChangesForHaveNoDeadline() {
            let now = ContinuousClock.now
            let hub = StatusHub(status: .unknown)
            let publisher = MonitorPublisher(hub: hub, monitor: ObjectIdentifier(hub))
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
