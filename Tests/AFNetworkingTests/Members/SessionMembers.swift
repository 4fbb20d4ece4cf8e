import Foundation
import LinnetAFNetworking

extension Header {
    static var urlSessionManager: Header {
        var header = Header("AFURLSessionManager")
        header.addManager()
        header.addTasks()
        header.addBlocks()
        header.addNotifications()
        return header
    }

    private mutating func addManager() {
        same("AFURLSessionManager") { _ = AFURLSessionManager.self as NSObject.Type }
        same("NSSecureCoding") { (manager: AFURLSessionManager) in _ = manager as any NSSecureCoding }
        same("NSCopying") { (manager: AFURLSessionManager) in _ = manager.copy() }
        leftOut("NSURLSessionDelegate", "NSURLSessionTaskDelegate", "NSURLSessionDataDelegate")
        leftOut("NSURLSessionDownloadDelegate")
        same("session") { (manager: AFURLSessionManager) in _ = manager.session as URLSession }
        same("operationQueue") { (manager: AFURLSessionManager) in _ = manager.operationQueue as OperationQueue }
        same("responseSerializer") { (manager: AFURLSessionManager) in
            manager.responseSerializer = manager.responseSerializer as any AFURLResponseSerialization
        }
        same("securityPolicy") { (manager: AFURLSessionManager) in
            manager.securityPolicy = manager.securityPolicy as AFSecurityPolicy
        }
        same("reachabilityManager") { (manager: AFURLSessionManager) in
            manager.reachabilityManager = manager.reachabilityManager as AFNetworkReachabilityManager
        }
        same("tasks") { (manager: AFURLSessionManager) in _ = manager.tasks as [URLSessionTask] }
        same("dataTasks") { (manager: AFURLSessionManager) in _ = manager.dataTasks as [URLSessionDataTask] }
        same("uploadTasks") { (manager: AFURLSessionManager) in _ = manager.uploadTasks as [URLSessionUploadTask] }
        same("downloadTasks") { (manager: AFURLSessionManager) in
            _ = manager.downloadTasks as [URLSessionDownloadTask]
        }
        same("completionQueue") { (manager: AFURLSessionManager) in
            manager.completionQueue = manager.completionQueue as DispatchQueue?
        }
        same("completionGroup") { (manager: AFURLSessionManager) in
            manager.completionGroup = manager.completionGroup as DispatchGroup?
        }
        same("initWithSessionConfiguration:") { _ = AFURLSessionManager(sessionConfiguration: nil) }
        same("invalidateSessionCancelingTasks:resetSession:") { (manager: AFURLSessionManager) in
            manager.invalidateSessionCancelingTasks(true, resetSession: false)
        }
    }

    private mutating func addTasks() {
        let request = { URLRequest(url: URL(filePath: "/")) }
        let handler = { @Sendable (_: URLResponse, _: Any?, _: (any Error)?) in }
        let fileHandler = { @Sendable (_: URLResponse, _: URL?, _: (any Error)?) in }
        same("dataTaskWithRequest:uploadProgress:downloadProgress:completionHandler:") {
            (manager: AFURLSessionManager) in
            _ =
                manager.dataTask(
                    with: request(), uploadProgress: { (_: Progress) in }, downloadProgress: { (_: Progress) in },
                    completionHandler: { handler($0, $1, $2) }) as URLSessionDataTask
        }
        same("uploadTaskWithRequest:fromFile:progress:completionHandler:") { (manager: AFURLSessionManager) in
            _ =
                manager.uploadTask(
                    with: request(), fromFile: URL(filePath: "/"), progress: { (_: Progress) in },
                    completionHandler: { handler($0, $1, $2) }) as URLSessionUploadTask
        }
        same("uploadTaskWithRequest:fromData:progress:completionHandler:") { (manager: AFURLSessionManager) in
            _ = manager.uploadTask(
                with: request(), from: Data(), progress: nil, completionHandler: { handler($0, $1, $2) })
        }
        same("uploadTaskWithStreamedRequest:progress:completionHandler:") { (manager: AFURLSessionManager) in
            _ = manager.uploadTask(
                withStreamedRequest: request(), progress: nil, completionHandler: { handler($0, $1, $2) })
        }
        same("downloadTaskWithRequest:progress:destination:completionHandler:") { (manager: AFURLSessionManager) in
            _ =
                manager.downloadTask(
                    with: request(), progress: nil, destination: { file, _ in file },
                    completionHandler: { fileHandler($0, $1, $2) }) as URLSessionDownloadTask
        }
        same("downloadTaskWithResumeData:progress:destination:completionHandler:") { (manager: AFURLSessionManager) in
            _ = manager.downloadTask(
                withResumeData: Data(), progress: nil, destination: nil,
                completionHandler: { fileHandler($0, $1, $2) })
        }
        same("uploadProgressForTask:") { (manager: AFURLSessionManager) in
            _ = manager.uploadProgress(for: manager.tasks[0]) as Progress?
        }
        same("downloadProgressForTask:") { (manager: AFURLSessionManager) in
            _ = manager.downloadProgress(for: manager.tasks[0]) as Progress?
        }
    }

    private mutating func addBlocks() {
        same("setSessionDidBecomeInvalidBlock:") { (manager: AFURLSessionManager) in
            manager.setSessionDidBecomeInvalid { (_: URLSession, _: (any Error)?) in }
        }
        leftOut("setSessionDidReceiveAuthenticationChallengeBlock:")
        differs("setTaskNeedNewBodyStreamBlock:") { (manager: AFURLSessionManager) in
            manager.setTaskNeedNewBodyStream { (_: URLSession, _: URLSessionTask) in HTTPRequestBody.data(Data()) }
        }
        same("setTaskWillPerformHTTPRedirectionBlock:") { (manager: AFURLSessionManager) in
            manager.setTaskWillPerformHTTPRedirection { (_: URLSession, _: URLSessionTask, _: URLResponse, request) in
                request as URLRequest
            }
        }
        same("setAuthenticationChallengeHandler:") { (manager: AFURLSessionManager) in
            manager.setAuthenticationChallengeHandler {
                (_: URLSession, _: URLSessionTask, challenge: URLAuthenticationChallenge, completion) -> Any? in
                completion(.performDefaultHandling, nil)
                return challenge.protectionSpace.host.isEmpty ? NSNumber(value: 1) : nil
            }
        }
        same("setTaskDidSendBodyDataBlock:") { (manager: AFURLSessionManager) in
            manager.setTaskDidSendBodyData { (_: URLSession, _: URLSessionTask, _: Int64, _: Int64, _: Int64) in }
        }
        same("setTaskDidCompleteBlock:") { (manager: AFURLSessionManager) in
            manager.setTaskDidComplete { (_: URLSession, _: URLSessionTask, _: (any Error)?) in }
        }
        differs("setTaskDidFinishCollectingMetricsBlock:") { (manager: AFURLSessionManager) in
            manager.setTaskDidFinishCollectingMetrics { (_: URLSession, _: URLSessionTask, metrics) in _ = metrics }
        }
        same("setDataTaskDidReceiveResponseBlock:") { (manager: AFURLSessionManager) in
            manager.setDataTaskDidReceiveResponse { (_: URLSession, _: URLSessionDataTask, _: URLResponse) in
                URLSession.ResponseDisposition.allow
            }
        }
        same("setDataTaskDidBecomeDownloadTaskBlock:") { (manager: AFURLSessionManager) in
            manager.setDataTaskDidBecomeDownloadTask {
                (_: URLSession, _: URLSessionDataTask, _: URLSessionDownloadTask) in
            }
        }
        same("setDataTaskDidReceiveDataBlock:") { (manager: AFURLSessionManager) in
            manager.setDataTaskDidReceiveData { (_: URLSession, _: URLSessionDataTask, _: Data) in }
        }
        differs("setDataTaskWillCacheResponseBlock:") { (manager: AFURLSessionManager) in
            manager.setDataTaskWillCacheResponse { (_: URLSession, _: URLSessionDataTask, response) in
                response as CachedURLResponse
            }
        }
        same("setDidFinishEventsForBackgroundURLSessionBlock:") { (manager: AFURLSessionManager) in
            manager.setDidFinishEventsForBackgroundURLSession { (_: URLSession) in }
        }
        same("setDownloadTaskDidFinishDownloadingBlock:") { (manager: AFURLSessionManager) in
            manager.setDownloadTaskDidFinishDownloading { (_: URLSession, _: URLSessionDownloadTask, file) in
                file as URL
            }
        }
        same("setDownloadTaskDidWriteDataBlock:") { (manager: AFURLSessionManager) in
            manager.setDownloadTaskDidWriteData {
                (_: URLSession, _: URLSessionDownloadTask, _: Int64, _: Int64, _: Int64) in
            }
        }
        same("setDownloadTaskDidResumeBlock:") { (manager: AFURLSessionManager) in
            manager.setDownloadTaskDidResume { (_: URLSession, _: URLSessionDownloadTask, _: Int64, _: Int64) in }
        }
    }

    private mutating func addNotifications() {
        let names: [(String, NSNotification.Name)] = [
            ("AFNetworkingTaskDidResumeNotification", .AFNetworkingTaskDidResume),
            ("AFNetworkingTaskDidCompleteNotification", .AFNetworkingTaskDidComplete),
            ("AFNetworkingTaskDidSuspendNotification", .AFNetworkingTaskDidSuspend),
            ("AFURLSessionDidInvalidateNotification", .AFURLSessionDidInvalidate),
            (
                "AFURLSessionDownloadTaskDidMoveFileSuccessfullyNotification",
                .AFURLSessionDownloadTaskDidMoveFileSuccessfully
            ),
            (
                "AFURLSessionDownloadTaskDidFailToMoveFileNotification",
                .AFURLSessionDownloadTaskDidFailToMoveFile
            ),
        ]
        for (name, value) in names { same(name) { _ = value } }
        let keys: [(String, String)] = [
            ("AFNetworkingTaskDidCompleteResponseDataKey", AFNetworkingTaskDidCompleteResponseDataKey),
            ("AFNetworkingTaskDidCompleteSerializedResponseKey", AFNetworkingTaskDidCompleteSerializedResponseKey),
            ("AFNetworkingTaskDidCompleteResponseSerializerKey", AFNetworkingTaskDidCompleteResponseSerializerKey),
            ("AFNetworkingTaskDidCompleteAssetPathKey", AFNetworkingTaskDidCompleteAssetPathKey),
            ("AFNetworkingTaskDidCompleteErrorKey", AFNetworkingTaskDidCompleteErrorKey),
            ("AFNetworkingTaskDidCompleteSessionTaskMetrics", AFNetworkingTaskDidCompleteSessionTaskMetrics),
        ]
        for (name, value) in keys { same(name) { _ = value } }
    }

    static var httpSessionManager: Header {
        var header = Header("AFHTTPSessionManager")
        header.same("AFHTTPSessionManager") { _ = AFHTTPSessionManager.self as AFURLSessionManager.Type }
        header.same("baseURL") { (manager: AFHTTPSessionManager) in _ = manager.baseURL as URL? }
        header.same("requestSerializer") { (manager: AFHTTPSessionManager) in
            manager.requestSerializer = manager.requestSerializer as AFHTTPRequestSerializer
        }
        header.same("responseSerializer") { (manager: AFHTTPSessionManager) in
            manager.responseSerializer = AFHTTPResponseSerializer()
        }
        header.same("securityPolicy") { (manager: AFHTTPSessionManager) in manager.securityPolicy = .default() }
        header.same("manager") { _ = AFHTTPSessionManager() }
        header.same("initWithBaseURL:") { _ = AFHTTPSessionManager(baseURL: URL(string: "https://example.com")) }
        header.same("initWithBaseURL:sessionConfiguration:") {
            _ = AFHTTPSessionManager(baseURL: nil, sessionConfiguration: .default)
        }
        header.addVerbs()
        return header
    }

    private mutating func addVerbs() {
        let success = { @Sendable (_: URLSessionDataTask, _: Any?) in }
        let failure = { @Sendable (_: URLSessionDataTask?, _: any Error) in }
        let parameters: [String: Any] = ["a": 1]
        same("GET:parameters:headers:progress:success:failure:") { (manager: AFHTTPSessionManager) in
            manager.get(
                "x", parameters: parameters, headers: ["A": "1"], progress: { (_: Progress) in },
                success: { success($0, $1) }, failure: { failure($0, $1) })
        }
        same("HEAD:parameters:headers:success:failure:") { (manager: AFHTTPSessionManager) in
            manager.head(
                "x", parameters: parameters, headers: nil, success: { (_: URLSessionDataTask) in },
                failure: { failure($0, $1) })
        }
        same("POST:parameters:headers:progress:success:failure:") { (manager: AFHTTPSessionManager) in
            manager.post(
                "x", parameters: parameters, headers: nil, progress: nil, success: { success($0, $1) },
                failure: { failure($0, $1) })
        }
        same("POST:parameters:headers:constructingBodyWithBlock:progress:success:failure:") {
            (manager: AFHTTPSessionManager) in
            manager.post(
                "x", parameters: parameters, headers: nil,
                constructingBodyWith: { (form: any AFMultipartFormData) in form.appendPart(withForm: Data(), name: "a")
                },
                progress: nil, success: { success($0, $1) }, failure: { failure($0, $1) })
        }
        same("PUT:parameters:headers:success:failure:") { (manager: AFHTTPSessionManager) in
            manager.put("x", parameters: nil, headers: nil, success: { success($0, $1) }, failure: { failure($0, $1) })
        }
        same("PATCH:parameters:headers:success:failure:") { (manager: AFHTTPSessionManager) in
            manager.patch(
                "x", parameters: nil, headers: nil, success: { success($0, $1) }, failure: { failure($0, $1) })
        }
        same("DELETE:parameters:headers:success:failure:") { (manager: AFHTTPSessionManager) in
            manager.delete(
                "x", parameters: nil, headers: nil, success: { success($0, $1) }, failure: { failure($0, $1) })
        }
        same(
            "dataTaskWithHTTPMethod:URLString:parameters:headers:uploadProgress:downloadProgress:success:failure:"
        ) { (manager: AFHTTPSessionManager) in
            _ =
                manager.dataTask(
                    withHTTPMethod: "GET", urlString: "x", parameters: parameters, headers: nil, uploadProgress: nil,
                    downloadProgress: nil, success: { success($0, $1) }, failure: { failure($0, $1) })
                as URLSessionDataTask?
        }
    }
}
