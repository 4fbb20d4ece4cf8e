import Foundation
import LinnetAFNetworking
import LinnetAFNetworkingXML

extension Header {
    static var requestSerialization: Header {
        var header = Header("AFURLRequestSerialization")
        header.addRequestProtocol()
        header.addRequestSettings()
        header.addRequests()
        header.addMultipart()
        header.addRequestKinds()
        return header
    }

    private mutating func addRequestProtocol() {
        same("AFPercentEscapedStringFromString") { _ = AFPercentEscapedStringFromString("a") as String }
        same("AFQueryStringFromParameters") { _ = AFQueryStringFromParameters(["a": 1]) as String }
        same("AFURLRequestSerialization") { (serializer: any AFURLRequestSerialization) in
            _ = serializer as any NSSecureCoding & NSCopying
        }
        same("requestBySerializingRequest:withParameters:error:") { (serializer: any AFURLRequestSerialization) in
            let request = URLRequest(url: URL(filePath: "/"))
            _ = serializer.request(bySerializing: request, withParameters: nil, error: nil) as URLRequest?
        }
        same("AFHTTPRequestQueryStringSerializationStyle") { _ = AFHTTPRequestQueryStringSerializationStyle.self }
        same("AFHTTPRequestQueryStringDefaultStyle") {
            _ = AFHTTPRequestQueryStringSerializationStyle.defaultStyle.rawValue
        }
    }

    private mutating func addRequestSettings() {
        same("AFHTTPRequestSerializer") { _ = AFHTTPRequestSerializer.self as any AFURLRequestSerialization.Type }
        same("stringEncoding") { (serializer: AFHTTPRequestSerializer) in
            serializer.stringEncoding = String.Encoding.utf8.rawValue
        }
        same("allowsCellularAccess") { (serializer: AFHTTPRequestSerializer) in serializer.allowsCellularAccess = true }
        same("cachePolicy") { (serializer: AFHTTPRequestSerializer) in
            serializer.cachePolicy = .reloadIgnoringLocalCacheData
        }
        same("HTTPShouldHandleCookies") { (serializer: AFHTTPRequestSerializer) in
            serializer.httpShouldHandleCookies = false
        }
        same("HTTPShouldUsePipelining") { (serializer: AFHTTPRequestSerializer) in
            serializer.httpShouldUsePipelining = true
        }
        same("networkServiceType") { (serializer: AFHTTPRequestSerializer) in serializer.networkServiceType = .default }
        same("timeoutInterval") { (serializer: AFHTTPRequestSerializer) in serializer.timeoutInterval = 30 }
        same("HTTPRequestHeaders") { (serializer: AFHTTPRequestSerializer) in
            _ = serializer.httpRequestHeaders as [String: String]
        }
        same("serializer") { _ = AFHTTPRequestSerializer() }
        same("setValue:forHTTPHeaderField:") { (serializer: AFHTTPRequestSerializer) in
            serializer.setValue("a", forHTTPHeaderField: "A")
        }
        same("valueForHTTPHeaderField:") { (serializer: AFHTTPRequestSerializer) in
            _ = serializer.value(forHTTPHeaderField: "A") as String?
        }
        same("setAuthorizationHeaderFieldWithUsername:password:") { (serializer: AFHTTPRequestSerializer) in
            serializer.setAuthorizationHeaderFieldWithUsername("ada", password: "linnet")
        }
        same("clearAuthorizationHeader") { (serializer: AFHTTPRequestSerializer) in
            serializer.clearAuthorizationHeader()
        }
        same("HTTPMethodsEncodingParametersInURI") { (serializer: AFHTTPRequestSerializer) in
            serializer.httpMethodsEncodingParametersInURI = ["GET"]
        }
        same("setQueryStringSerializationWithStyle:") { (serializer: AFHTTPRequestSerializer) in
            serializer.setQueryStringSerializationWith(.defaultStyle)
        }
        same("setQueryStringSerializationWithBlock:") { (serializer: AFHTTPRequestSerializer) in
            serializer.setQueryStringSerializationWith { (_: URLRequest, _: Any, error) in
                error?.pointee = nil
                return "a=1"
            }
        }
    }

    private mutating func addRequests() {
        same("requestWithMethod:URLString:parameters:error:") { (serializer: AFHTTPRequestSerializer) in
            _ = serializer.request(withMethod: "GET", urlString: "/", parameters: nil, error: nil)
            _ = try serializer.request(withMethod: "GET", urlString: "/", parameters: nil) as URLRequest
        }
        same("multipartFormRequestWithMethod:URLString:parameters:constructingBodyWithBlock:error:") {
            (serializer: AFHTTPRequestSerializer) in
            _ = serializer.multipartFormRequest(
                withMethod: "POST", urlString: "/", parameters: ["a": 1],
                constructingBodyWith: { (_: any AFMultipartFormData) in }, error: nil)
        }
        same("requestWithMultipartFormRequest:writingStreamContentsToFile:completionHandler:") {
            (serializer: AFHTTPRequestSerializer) in
            _ = serializer.request(
                withMultipartFormRequest: URLRequest(url: URL(filePath: "/")),
                writingStreamContentsToFile: URL(filePath: "/"), completionHandler: { (_: (any Error)?) in })
        }
    }

    private mutating func addMultipart() {
        same("AFMultipartFormData") { _ = (any AFMultipartFormData).self }
        same("appendPartWithFileURL:name:error:") { (form: any AFMultipartFormData) in
            try form.appendPart(withFileURL: URL(filePath: "/"), name: "a")
        }
        same("appendPartWithFileURL:name:fileName:mimeType:error:") { (form: any AFMultipartFormData) in
            try form.appendPart(withFileURL: URL(filePath: "/"), name: "a", fileName: "b", mimeType: "text/plain")
        }
        same("appendPartWithInputStream:name:fileName:length:mimeType:") { (form: any AFMultipartFormData) in
            form.appendPart(
                with: InputStream(data: Data()), name: "a", fileName: "b", length: 0, mimeType: "text/plain")
        }
        same("appendPartWithFileData:name:fileName:mimeType:") { (form: any AFMultipartFormData) in
            form.appendPart(withFileData: Data(), name: "a", fileName: "b", mimeType: "text/plain")
        }
        same("appendPartWithFormData:name:") { (form: any AFMultipartFormData) in
            form.appendPart(withForm: Data(), name: "a")
        }
        same("appendPartWithHeaders:body:") { (form: any AFMultipartFormData) in
            form.appendPart(withHeaders: ["A": "1"], body: Data())
        }
        same("throttleBandwidthWithPacketSize:delay:") { (form: any AFMultipartFormData) in
            form.throttleBandwidth(
                withPacketSize: kAFUploadStream3GSuggestedPacketSize, delay: kAFUploadStream3GSuggestedDelay)
        }
    }

    private mutating func addRequestKinds() {
        same("AFJSONRequestSerializer") { _ = AFJSONRequestSerializer() as AFHTTPRequestSerializer }
        same("writingOptions") { (serializer: AFJSONRequestSerializer) in serializer.writingOptions = .prettyPrinted }
        same("serializerWithWritingOptions:") { _ = AFJSONRequestSerializer(writingOptions: []) }
        same("AFPropertyListRequestSerializer") { _ = AFPropertyListRequestSerializer() as AFHTTPRequestSerializer }
        same("format") { (serializer: AFPropertyListRequestSerializer) in serializer.format = .binary }
        same("writeOptions") { (serializer: AFPropertyListRequestSerializer) in serializer.writeOptions = 0 }
        same("serializerWithFormat:writeOptions:") {
            _ = AFPropertyListRequestSerializer(format: .xml, writeOptions: 0)
        }
        same("AFURLRequestSerializationErrorDomain") { _ = AFURLRequestSerializationErrorDomain as String }
        same("AFNetworkingOperationFailingURLRequestErrorKey") {
            _ = AFNetworkingOperationFailingURLRequestErrorKey as String
        }
        same("kAFUploadStream3GSuggestedPacketSize") { _ = kAFUploadStream3GSuggestedPacketSize as UInt }
        same("kAFUploadStream3GSuggestedDelay") { _ = kAFUploadStream3GSuggestedDelay as TimeInterval }
    }

    static var responseSerialization: Header {
        var header = Header("AFURLResponseSerialization")
        header.addResponseProtocol()
        header.addResponseKinds()
        return header
    }

    private mutating func addResponseProtocol() {
        same("AFJSONObjectByRemovingKeysWithNullValues") { _ = AFJSONObjectByRemovingKeysWithNullValues([1], []) }
        same("AFURLResponseSerialization") { (serializer: any AFURLResponseSerialization) in
            _ = serializer as any NSSecureCoding & NSCopying
        }
        same("responseObjectForResponse:data:error:") { (serializer: any AFURLResponseSerialization) in
            _ = serializer.responseObject(for: nil, data: nil, error: nil) as Any?
        }
        same("AFHTTPResponseSerializer") { _ = AFHTTPResponseSerializer.self as any AFURLResponseSerialization.Type }
        same("init") { _ = AFHTTPResponseSerializer() }
        same("serializer") { _ = AFJSONResponseSerializer() }
        same("acceptableStatusCodes") { (serializer: AFHTTPResponseSerializer) in
            serializer.acceptableStatusCodes = IndexSet(integer: 200)
        }
        same("acceptableContentTypes") { (serializer: AFHTTPResponseSerializer) in
            serializer.acceptableContentTypes = ["text/plain"]
        }
        same("validateResponse:data:error:") { (serializer: AFHTTPResponseSerializer) in
            try serializer.validate(nil, data: nil)
        }
    }

    private mutating func addResponseKinds() {
        same("AFJSONResponseSerializer") { _ = AFJSONResponseSerializer() as AFHTTPResponseSerializer }
        same("readingOptions") { (serializer: AFJSONResponseSerializer) in
            serializer.readingOptions = .fragmentsAllowed
        }
        same("removesKeysWithNullValues") { (serializer: AFJSONResponseSerializer) in
            serializer.removesKeysWithNullValues = true
        }
        same("serializerWithReadingOptions:") { _ = AFJSONResponseSerializer(readingOptions: .mutableContainers) }
        differs("AFXMLParserResponseSerializer") {
            let object = AFXMLParserResponseSerializer().responseObject(for: nil, data: nil, error: nil)
            (object as? XMLParser)?.parse()
        }
        differs("AFXMLDocumentResponseSerializer") {
            let object = AFXMLDocumentResponseSerializer().responseObject(for: nil, data: nil, error: nil)
            _ = (object as? XMLTree)?.root
        }
        same("options") { (serializer: AFXMLDocumentResponseSerializer) in serializer.options = 1 }
        same("serializerWithXMLDocumentOptions:") { _ = AFXMLDocumentResponseSerializer(xmlDocumentOptions: 1) }
        same("AFPropertyListResponseSerializer") { _ = AFPropertyListResponseSerializer() as AFHTTPResponseSerializer }
        same("format") { (serializer: AFPropertyListResponseSerializer) in serializer.format = .xml }
        same("readOptions") { (serializer: AFPropertyListResponseSerializer) in serializer.readOptions = [] }
        same("serializerWithFormat:readOptions:") {
            _ = AFPropertyListResponseSerializer(format: .xml, readOptions: [])
        }
        same("AFImageResponseSerializer") { _ = AFImageResponseSerializer() as AFHTTPResponseSerializer }
        same("imageScale") { (serializer: AFImageResponseSerializer) in serializer.imageScale = 2 }
        same("automaticallyInflatesResponseImage") { (serializer: AFImageResponseSerializer) in
            serializer.automaticallyInflatesResponseImage = false
        }
        same("AFCompoundResponseSerializer") { _ = AFCompoundResponseSerializer() as AFHTTPResponseSerializer }
        same("responseSerializers") { (serializer: AFCompoundResponseSerializer) in
            _ = serializer.responseSerializers as [any AFURLResponseSerialization]
        }
        same("compoundSerializerWithResponseSerializers:") {
            _ = AFCompoundResponseSerializer.compoundSerializer(
                withResponseSerializers: [AFJSONResponseSerializer(), AFImageResponseSerializer()])
        }
        same("AFURLResponseSerializationErrorDomain") { _ = AFURLResponseSerializationErrorDomain as String }
        same("AFNetworkingOperationFailingURLResponseErrorKey") {
            _ = AFNetworkingOperationFailingURLResponseErrorKey as String
        }
        same("AFNetworkingOperationFailingURLResponseDataErrorKey") {
            _ = AFNetworkingOperationFailingURLResponseDataErrorKey as String
        }
    }
}
