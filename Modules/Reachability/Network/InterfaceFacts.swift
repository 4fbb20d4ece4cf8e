internal import Glibc

/// Properties of an interface that sysfs reports and netlink does not.
struct InterfaceFacts: Hashable, Sendable {
    /// Whether the interface belongs to an IEEE 802.11 radio.
    var isWireless = false
    /// `DEVTYPE` in the device's `uevent`, as in `wwan`.
    var deviceType: String?
    /// Whether it is a tun or tap device.
    var isTunTap = false
    /// Whether the machine has a mobile broadband modem.
    var hasModem = false
}

extension InterfaceFacts {
    /// Reads the properties below a sysfs root.
    ///
    /// Returns no properties when the interface's index differs in sysfs, which then shows another network namespace.
    static func read(for link: NetworkLink, below root: String = "/sys") -> InterfaceFacts {
        // The kernel forbids names that would change the path; a forged message must not contain them either.
        guard let name = link.name, !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
            return InterfaceFacts()
        }
        let folder = "\(root)/class/net/\(name)"
        guard let index = text(ofFile: "\(folder)/ifindex"), Int32(index.prefix { $0.isNumber }) == link.index else {
            return InterfaceFacts()
        }
        return InterfaceFacts(
            isWireless: exists("\(folder)/wireless") || exists("\(folder)/phy80211"),
            deviceType: deviceType(inEvent: text(ofFile: "\(folder)/uevent") ?? ""),
            isTunTap: exists("\(folder)/tun_flags"),
            hasModem: hasEntries("\(root)/class/wwan")
        )
    }

    static func deviceType(inEvent text: String) -> String? {
        text.split(separator: "\n").lazy
            .first { $0.hasPrefix("DEVTYPE=") }
            .map { String($0.dropFirst("DEVTYPE=".count)) }
    }

    private static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    /// The first 4 KiB of a file, the maximum size of a sysfs attribute.
    private static func text(ofFile path: String) -> String? {
        let number = open(path, O_RDONLY | O_CLOEXEC)
        guard number >= 0 else { return nil }
        let descriptor = OwnedDescriptor(owning: number)
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(descriptor.number, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count], as: UTF8.self)
    }

    private static func hasEntries(_ path: String) -> Bool {
        guard let folder = opendir(path) else { return false }
        defer { closedir(folder) }
        // The entries "." and ".." always exist.
        for _ in 0..<3 where readdir(folder) == nil { return false }
        return true
    }
}
