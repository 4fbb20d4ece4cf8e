import FoundationEssentials
import Testing

@testable import LinnetReachability

extension LiveTests {
    @Suite struct InterfaceFactsTests {
        private let link = NetworkLink(.init(index: 7, hardwareType: 1, flags: 0x41, name: "net7"))

        private func withSysfs(_ files: [String: String], _ body: (String) throws -> Void) throws {
            let root = FileManager.default.temporaryDirectory.appending(path: "linnet-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: root) }
            for (path, text) in files {
                let file = root.appending(path: path)
                try FileManager.default.createDirectory(
                    at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try Data(text.utf8).write(to: file)
            }
            try body(root.path)
        }

        @Test func factsAreReadFromTheInterfacesSysfsDirectory() throws {
            let files = [
                "class/net/net7/ifindex": "7\n", "class/net/net7/uevent": "INTERFACE=net7\nDEVTYPE=wwan\nIFINDEX=7\n",
                "class/net/net7/phy80211/name": "phy0", "class/net/net7/tun_flags": "0x1001",
                "class/wwan/wwan0/dev": "",
            ]
            try withSysfs(files) { root in
                let facts = InterfaceFacts.read(for: link, below: root)
                #expect(facts == .init(isWireless: true, deviceType: "wwan", isTunTap: true, hasModem: true))
            }
        }

        @Test func anInterfaceWithTheSameNameInAnotherNamespaceIsIgnored() throws {
            let files = ["class/net/net7/ifindex": "8\n", "class/net/net7/wireless/x": "", "class/wwan/wwan0/dev": ""]
            try withSysfs(files) { root in
                #expect(InterfaceFacts.read(for: link, below: root) == InterfaceFacts())
            }
        }

        @Test func withoutSysfsThereAreNoFacts() {
            #expect(InterfaceFacts.read(for: link, below: "/nonexistent") == InterfaceFacts())
        }

        @Test(arguments: ["", ".", "..", "../net/net7", "/"])
        func aNameThatWouldChangeThePathIsRefused(name: String) throws {
            try withSysfs(["class/net/net7/ifindex": "7", "class/net/net7/wireless/x": "", "class/net/ifindex": "7"]) {
                var link = link
                link.name = name
                #expect(InterfaceFacts.read(for: link, below: $0) == InterfaceFacts())
            }
        }
    }
}
