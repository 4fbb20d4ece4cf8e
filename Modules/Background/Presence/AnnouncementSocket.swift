internal import FoundationEssentials
internal import LinnetSerialization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The socket by which a session of a directory hears of others.
///
/// Announcements are datagrams of one byte, and may be lost: a full socket has unread ones already, and the journal has
/// the facts.
struct AnnouncementSocket: Sendable {
    enum Announcement: UInt8, Sendable {
        /// The journal has changed.
        case changed = 0x63
        /// A program wants to transfer its tasks.
        case claimed = 0x6B
    }

    let descriptor: Int32
    private let folder: Int32
    private let path: String
    private let name: String

    /// Creates the socket of a session. It blocks.
    init(_ folder: BackgroundFolder) throws(BackgroundError) {
        path = folder.sockets
        name = "\(getpid())-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"
        self.folder = SystemCall.retrying { open(folder.sockets, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW) }
        guard self.folder >= 0 else { throw .failedCall(folder.sockets, "cannot be opened") }
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        guard descriptor >= 0,
            Self.with(name, in: self.folder, { [descriptor] in bind(descriptor, $0, $1) }) == 0
        else {
            let code = errno
            closeDescriptor(self.folder)
            if descriptor >= 0 { closeDescriptor(descriptor) }
            throw .failedCall(folder.sockets, "cannot have a socket", code)
        }
    }

    /// Removes the name, by which others send to the socket.
    func removeName() { unlink(path + "/" + name) }

    func close() {
        closeDescriptor(descriptor)
        closeDescriptor(folder)
    }

    /// Tells all other sessions of the directory. Removes the sockets of sessions that have ended without removing
    /// them.
    func send(_ announcement: Announcement) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
        for other in names where other != name {
            var byte = announcement.rawValue
            let result = Self.with(other, in: folder) { address, size in
                Int32(sendto(descriptor, &byte, 1, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL), address, size))
            }
            // No process has the socket open: its owner was killed.
            if result < 0, errno == ECONNREFUSED { unlink(path + "/" + other) }
        }
    }

    /// Reads all announcements that have arrived; equal ones are one.
    func receive() -> Set<Announcement> {
        var found: Set<Announcement> = []
        while true {
            var byte: UInt8 = 0
            let count = SystemCall.retrying { recv(descriptor, &byte, 1, Int32(MSG_DONTWAIT)) }
            guard count >= 0 else { return found }
            if count == 1, let announcement = Announcement(rawValue: byte) { found.insert(announcement) }
        }
    }

    /// Calls a function with the address of a socket. The address names the folder by its descriptor, because an
    /// address has no room for a long path.
    private static func with(
        _ name: String, in folder: Int32, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = [UInt8]("/proc/self/fd/\(folder)/\(name)".utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
            errno = ENAMETOOLONG
            return -1
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        return withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}

private func closeDescriptor(_ descriptor: Int32) { _ = close(descriptor) }
