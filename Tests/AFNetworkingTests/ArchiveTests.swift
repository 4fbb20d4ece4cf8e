import Foundation
import LinnetAFNetworking
import LinnetTesting
import Testing

/// NSSecureCoding and NSCopying.
@Suite(.timeLimit(.minutes(5)))
struct ArchiveTests {
    /// The object after it was archived and read again.
    private func archived<Object: NSObject & NSSecureCoding>(_ object: Object) throws -> Object {
        let data = try NSKeyedArchiver.archivedData(withRootObject: object, requiringSecureCoding: true)
        return try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: Object.self, from: data))
    }

    @Test func aRequestSerializerIsArchivedWithoutCredentials() throws {
        let serializer = AFJSONRequestSerializer(writingOptions: .prettyPrinted)
        serializer.setValue("1", forHTTPHeaderField: "X-A")
        serializer.setAuthorizationHeaderFieldWithUsername("ada", password: "linnet")
        serializer.timeoutInterval = 7
        serializer.cachePolicy = .returnCacheDataDontLoad
        serializer.httpMethodsEncodingParametersInURI = ["PUT"]
        let read = try archived(serializer)
        #expect(read.value(forHTTPHeaderField: "X-A") == "1" && read.timeoutInterval == 7)
        #expect(read.value(forHTTPHeaderField: "Authorization") == nil)
        #expect(read.value(forHTTPHeaderField: "User-Agent") == serializer.value(forHTTPHeaderField: "User-Agent"))
        #expect(read.cachePolicy == .returnCacheDataDontLoad && read.writingOptions == .prettyPrinted)
        #expect(read.httpMethodsEncodingParametersInURI == ["PUT"])
        let list = try archived(AFPropertyListRequestSerializer(format: .binary, writeOptions: 0))
        #expect(list.format == .binary)
    }

    @Test func aResponseSerializerIsArchived() throws {
        let serializer = AFJSONResponseSerializer(readingOptions: .fragmentsAllowed)
        serializer.acceptableStatusCodes = IndexSet([200, 204, 418])
        serializer.acceptableContentTypes = ["test/type"]
        serializer.removesKeysWithNullValues = true
        let read = try archived(serializer)
        #expect(read.acceptableStatusCodes == IndexSet([200, 204, 418]))
        #expect(read.acceptableContentTypes == ["test/type"] && read.removesKeysWithNullValues)
        #expect(read.readingOptions == .fragmentsAllowed)
        serializer.acceptableStatusCodes = nil
        serializer.acceptableContentTypes = nil
        let open = try archived(serializer)
        #expect(open.acceptableStatusCodes == nil && open.acceptableContentTypes == nil)
        let image = AFImageResponseSerializer()
        image.imageScale = 2
        image.automaticallyInflatesResponseImage = false
        let readImage = try archived(image)
        #expect(readImage.imageScale == 2 && !readImage.automaticallyInflatesResponseImage)
    }

    @Test func aCompoundSerializerIsArchivedWithItsMembers() throws {
        let inner = AFCompoundResponseSerializer.compoundSerializer(
            withResponseSerializers: [AFPropertyListResponseSerializer()])
        let serializer = AFCompoundResponseSerializer.compoundSerializer(
            withResponseSerializers: [AFJSONResponseSerializer(readingOptions: .fragmentsAllowed), inner])
        let read = try archived(serializer)
        let members = read.responseSerializers
        #expect(members.count == 2)
        #expect((members.first as? AFJSONResponseSerializer)?.readingOptions == .fragmentsAllowed)
        let nested = (members.last as? AFCompoundResponseSerializer)?.responseSerializers
        #expect(nested?.count == 1 && nested?.first is AFPropertyListResponseSerializer)
    }

    /// Each level takes a part of the stack.
    @Test func compoundSerializersWithinEachOtherAreLimited() throws {
        var serializer = AFCompoundResponseSerializer()
        for _ in 0..<40 {
            serializer = .compoundSerializer(withResponseSerializers: [serializer])
        }
        var read: AFCompoundResponseSerializer? = try archived(serializer)
        var depth = 0
        while let inner = read?.responseSerializers.first as? AFCompoundResponseSerializer {
            (read, depth) = (inner, depth + 1)
        }
        #expect(depth == 8)
    }

    @Test func aPolicyIsArchived() throws {
        let policy = AFSecurityPolicy(pinningMode: .publicKey, withPinnedCertificates: [Data([1, 2])])
        policy.allowInvalidCertificates = true
        policy.validatesDomainName = false
        let read = try archived(policy)
        #expect(read.sslPinningMode == .publicKey && read.pinnedCertificates == [Data([1, 2])])
        #expect(read.allowInvalidCertificates && !read.validatesDomainName)
    }

    @Test func aManagerIsArchivedWithItsConfigurationSerializersAndPolicy() throws {
        let configuration = URLSessionConfiguration.default
        configuration.timeoutIntervalForRequest = 9
        configuration.httpAdditionalHeaders = ["X-A": "1", "Authorization": "Basic secret"]
        let manager = AFHTTPSessionManager(
            baseURL: URL(string: "https://ada:secret@example.com/api"), sessionConfiguration: configuration)
        manager.requestSerializer = AFJSONRequestSerializer()
        manager.responseSerializer = AFPropertyListResponseSerializer()
        manager.securityPolicy = AFSecurityPolicy(pinningMode: .certificate, withPinnedCertificates: [Data([1])])
        let data = try NSKeyedArchiver.archivedData(withRootObject: manager, requiringSecureCoding: true)
        #expect(data.range(of: Data("secret".utf8)) == nil)
        let read = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: AFHTTPSessionManager.self, from: data))
        #expect(read.baseURL?.absoluteString == "https://example.com/api/")
        #expect(read.session.configuration.timeoutIntervalForRequest == 9)
        #expect(read.session.configuration.httpAdditionalHeaders as? [String: String] == ["X-A": "1"])
        #expect(read.requestSerializer is AFJSONRequestSerializer)
        #expect(read.responseSerializer is AFPropertyListResponseSerializer)
        #expect(read.securityPolicy.sslPinningMode == .certificate)
        #expect(read.securityPolicy.pinnedCertificates == [Data([1])])
        let plain = try archived(AFURLSessionManager(sessionConfiguration: configuration))
        #expect(plain.session.configuration.timeoutIntervalForRequest == 9)
    }

    @Test func aCopyHasTheSettingsAndASessionOfItsOwn() throws {
        let manager = makeManager("http://example.com/api")
        manager.requestSerializer = AFJSONRequestSerializer()
        manager.setSessionDidBecomeInvalid { _, _ in }
        let copy = try #require(manager.copy() as? AFHTTPSessionManager)
        #expect(copy.baseURL == manager.baseURL && copy.requestSerializer === manager.requestSerializer)
        #expect(copy.securityPolicy === manager.securityPolicy && copy.session !== manager.session)
        #expect(copy.completionQueue == nil)
    }

    /// Archives of another class, of nothing, or with bytes of an attacker.
    @Test func anArchiveThatHasNoObjectIsAnError() throws {
        func reads<Object: NSObject & NSSecureCoding>(_ type: Object.Type, _ data: Data) -> Bool {
            (try? NSKeyedUnarchiver.unarchivedObject(ofClass: type, from: data)).flatMap { $0 } != nil
        }
        let text = try NSKeyedArchiver.archivedData(
            withRootObject: "text" as NSString, requiringSecureCoding: true)
        for data in [text, Data(), Data("bplist00".utf8)] {
            #expect(!reads(AFHTTPSessionManager.self, data) && !reads(AFSecurityPolicy.self, data))
            #expect(!reads(AFJSONResponseSerializer.self, data) && !reads(AFJSONRequestSerializer.self, data))
        }
        let empty = NSKeyedArchiver(requiringSecureCoding: true)
        empty.finishEncoding()
        let decoder = try NSKeyedUnarchiver(forReadingFrom: empty.encodedData)
        #expect(AFSecurityPolicy(coder: decoder) == nil && AFHTTPSessionManager(coder: decoder) == nil)
        #expect(AFHTTPResponseSerializer(coder: decoder) == nil && AFHTTPRequestSerializer(coder: decoder) == nil)
    }

    /// As a client for Apple's platforms has it: `init(coder:)` is the one required initializer.
    final class Client: AFHTTPSessionManager, @unchecked Sendable {
        let name: String

        init(name: String) {
            self.name = name
            super.init(baseURL: URL(string: "http://example.com"), sessionConfiguration: nil)
        }

        required init?(coder: NSCoder) { nil }
    }

    final class Serializer: AFJSONResponseSerializer, @unchecked Sendable {
        override init() {
            super.init()
            acceptableContentTypes?.insert("text/plain")
        }

        required init?(coder: NSCoder) { super.init(coder: coder) }
    }

    @Test func subclassesHaveTheInitializersOfAFNetworkings() throws {
        let client = Client(name: "posts")
        #expect(client.name == "posts" && client.copy() is AFHTTPSessionManager)
        let copy = try #require(Serializer().copy() as? Serializer)
        #expect(copy.acceptableContentTypes?.contains("text/plain") == true)
    }
}
