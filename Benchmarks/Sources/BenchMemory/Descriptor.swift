import Glibc

/// An open descriptor of this process, with a description, so that one that is left can be named.
package struct Descriptor: Hashable, Sendable, CustomStringConvertible {
    private let number: String
    /// A path, or a kind with an inode.
    private let target: String

    /// Those that are open now.
    package static func all() -> Set<Descriptor> {
        Set(
            Proc.entries(of: "/proc/self/fd").compactMap { number in
                var path = [CChar](repeating: 0, count: 512)
                let count = readlink("/proc/self/fd/\(number)", &path, path.count)
                guard count > 0 else { return nil }
                let target = String(decoding: path[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
                // The one that reads this directory has been closed.
                return target.hasSuffix("/fd") ? nil : Descriptor(number: number, target: target)
            })
    }

    /// Those that are open now and were not before, in order. A `timerfd` does not count: libdispatch keeps one for
    /// each clock, from its first timer that is not due at once. An event loop has other descriptors as well.
    package static func opened(since before: Set<Descriptor>) -> [Descriptor] {
        all().subtracting(before).filter { $0.target != "anon_inode:[timerfd]" }.sorted { $0.number < $1.number }
    }

    package var description: String {
        guard target.hasPrefix("socket:[") else { return "\(number) \(target)" }
        return "\(number) \(target), \(Self.connection(String(target.dropFirst(8).dropLast())))"
    }

    /// Says which connection the socket of an inode has, from the kernel's tables.
    private static func connection(_ inode: String) -> String {
        for table in ["tcp", "tcp6"] {
            for line in Proc.lines(of: "/proc/self/net/\(table)") {
                let words = line.split(separator: " ")
                guard words.count > 9, words[9] == inode else { continue }
                return "\(table) from \(address(words[1])) to \(address(words[2])), state \(words[3])"
            }
        }
        return "without a TCP connection"
    }

    /// Returns an address of a table, `0100007F:1F90`, as `127.0.0.1:8080`; one of IPv6 has its address as it is.
    private static func address(_ word: Substring) -> String {
        let parts = word.split(separator: ":")
        guard parts.count == 2, let port = Int(parts[1], radix: 16) else { return String(word) }
        guard parts[0].count == 8, let bytes = UInt32(parts[0], radix: 16) else { return "\(parts[0]):\(port)" }
        return (0..<4).map { "\(bytes >> ($0 * 8) & 255)" }.joined(separator: ".") + ":\(port)"
    }
}
