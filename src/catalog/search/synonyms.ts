import { stem } from "./stem.ts";

/**
 * Words of everyday English and of computing that are said for one another when people ask for something to be done.
 * Each line is one meaning; a word may stand in several. General on purpose: none is there for one tool or server.
 */
const NEAR: readonly string[] = [
  // What is done.
  "get fetch retrieve obtain read show view load download",
  "find search query lookup discover locate seek explore",
  "create make add new generate build insert compose",
  "write save store put record persist append",
  "update edit change modify set alter replace patch rename",
  "delete remove erase clear drop discard destroy purge",
  "send post publish submit deliver notify push",
  "list enumerate browse index",
  "run execute launch invoke start perform evaluate",
  "stop end kill terminate close cancel finish abort quit",
  "open visit navigate goto browse",
  "press click tap push",
  "type enter fill input",
  "choose select pick",
  "check verify validate test inspect examine",
  "analyze examine assess study evaluate inspect",
  "compare diff difference contrast",
  "convert transform translate change export turn",
  "calculate compute evaluate math arithmetic",
  "count number total amount",
  "draw plot render visualize paint graph chart sketch",
  "copy duplicate clone",
  "move transfer relocate",
  "merge combine join unite",
  "split divide separate",
  "sort order rank arrange",
  "filter narrow restrict",
  "summarize summary overview digest brief abstract",
  "extract parse scrape crawl",
  "recommend suggest propose advise",
  "schedule plan book arrange reserve",
  "buy purchase order",
  "sign login authenticate",
  "wait pause sleep delay",
  "monitor watch track observe follow",
  "upload attach import",
  "download pull import",
  "share send invite",
  "explain describe detail",
  "identify detect recognize determine",
  "install setup deploy",
  "notify alert remind warn",
  "remind reminder alarm",
  "ask question query",
  "restart reboot reload refresh reset",
  "compress zip archive pack",
  "decompress unzip unpack extract",
  "resize scale shrink enlarge crop",
  "assign delegate allocate",
  "subscribe follow watch",
  "star favorite bookmark like",
  "approve accept confirm",
  "reject decline deny refuse",
  "enable activate",
  "disable deactivate",
  "deploy release publish ship",
  "debug diagnose troubleshoot",
  "annotate tag label mark",
  // What it is done to.
  "picture image photo photograph illustration",
  "painting artwork art",
  "screenshot capture snapshot",
  "video movie film clip",
  "song music track audio sound",
  "subtitle caption transcript",
  "document doc file",
  "folder directory",
  "spreadsheet excel xlsx xls workbook sheet",
  "presentation slide deck powerpoint pptx ppt",
  "word docx",
  "markdown md",
  "image png jpg jpeg gif svg",
  "json data",
  "csv table",
  "webpage website site page web",
  "url link address uri",
  "browser tab window",
  "internet web online",
  "email mail message inbox",
  "message chat text",
  "meeting event appointment calendar",
  "task todo ticket issue",
  "bug issue defect problem error",
  "repository repo project",
  "code source program script",
  "branch commit revision version",
  "package library module dependency",
  "component element widget",
  "user person people member account profile",
  "company business organization firm corporation",
  "team group",
  "contact person address",
  "price cost value quote rate worth",
  "stock share equity ticker",
  "money currency cash",
  "cryptocurrency crypto coin token",
  "bill invoice payment charge",
  "news article headline story",
  "trend trending popular hot top",
  "latest recent newest current today",
  "paper article study publication research",
  "book novel title",
  "place location position spot",
  "coordinate latitude longitude geocode",
  "map route direction path",
  "restaurant cafe dining food",
  "recipe dish meal cooking food",
  "hotel accommodation stay lodging",
  "flight plane airline",
  "train railway rail",
  "ticket booking reservation",
  "car vehicle drive",
  "weather forecast temperature climate",
  "time clock date now",
  "timezone zone",
  "note memo memory",
  "chart graph diagram plot",
  "table grid row",
  "database db sql",
  "log history record",
  "setting config configuration option preference",
  "secret password credential key token",
  "server host machine",
  "container docker",
  "process program task",
  "command shell terminal console",
  "size length bytes",
  "info information detail data metadata",
  "comment reply review feedback",
  "question problem challenge",
  "answer reply response result",
  "game match play",
  "player champion character",
  "disease illness cancer",
  "treatment therapy trial medicine drug",
  "nearby near around close",
  "distance far radius range",
  "traffic congestion",
  "income revenue earning profit",
  "transaction payment transfer",
  "balance account",
  "documentation docs manual guide tutorial",
  "example sample snippet",
  "definition meaning dictionary",
  "error exception failure crash",
  "vulnerability security",
  "conversation discussion thread chat",
  "channel room",
  "customer client contact",
  "product item goods",
  "photo album gallery",
  "voice speech audio",
  "job vacancy position",
  "student pupil course class",
  "sport match league score",
  "random dice lottery",
  "domain hostname dns",
  "holiday vacation trip travel tour",
];

/** Words that mean as good as the same. */
const SAME: readonly string[] = [
  "get fetch retrieve obtain",
  "find search lookup locate",
  "create make new",
  "save write store",
  "append add insert",
  "edit change modify alter",
  "delete remove erase",
  "send post",
  "run execute",
  "stop end terminate",
  "open visit navigate goto",
  "choose select pick",
  "check verify validate",
  "calculate compute",
  "draw plot",
  "copy duplicate",
  "convert transform",
  "recommend suggest",
  "picture image photo",
  "screenshot capture snapshot",
  "movie film",
  "folder directory",
  "website webpage site page web",
  "url link",
  "email mail",
  "repository repo",
  "picture img",
  "document doc",
  "powerpoint presentation pptx ppt",
  "excel xlsx xls spreadsheet",
  "word docx",
  "markdown md",
  "database db",
  "price cost",
  "share stock equity",
  "info information detail",
  "cryptocurrency crypto",
  "config configuration setting",
  "trend trending",
  "app application",
];

/** The commonest of these words in Chinese, whose tools are asked for in English and the other way round. */
const CHINESE =
  "获取 get 查询 query 搜索 search 查找 find 检索 search 创建 create 新建 create 生成 generate 添加 add 写入 write 保存 save " +
  "更新 update 修改 edit 编辑 edit 删除 delete 移除 remove 列出 list 列表 list 读取 read 打开 open 关闭 close 发送 send " +
  "下载 download 上传 upload 执行 run 运行 run 开始 start 停止 stop 点击 click 选择 select 检查 check 分析 analyze 比较 compare " +
  "转换 convert 翻译 translate 计算 calculate 统计 count 绘制 draw 复制 copy 移动 move 合并 merge 推荐 recommend 预订 book " +
  "购买 buy 登录 login 提取 extract 总结 summarize 图片 image 图像 image 照片 photo 截图 screenshot 视频 video 音乐 music " +
  "歌曲 song 音频 audio 文档 document 文件 file 目录 directory 表格 table 图表 chart 幻灯 slide 网页 page 网站 website " +
  "链接 link 浏览 browse 邮件 email 邮箱 mail 消息 message 会议 meeting 日程 calendar 日历 calendar 任务 task 问题 question " +
  "仓库 repository 代码 code 用户 user 公司 company 价格 price 股票 stock 货币 currency 汇率 rate 新闻 news 资讯 news " +
  "文章 article 热门 popular 趋势 trend 排行 rank 最新 latest 论文 paper 书籍 book 图书 book 电影 movie " +
  "地址 address 位置 location 坐标 coordinate 地图 map 路线 route 餐厅 restaurant 菜谱 recipe 酒店 hotel 航班 flight " +
  "火车 train 车站 station 车票 ticket 天气 weather 时间 time 日期 date 笔记 note 记忆 memory 数据 data 日志 log 配置 config " +
  "密码 password 服务 server 容器 container 命令 command 信息 info 详情 detail 评论 comment 游戏 game 角色 character " +
  "随机 random 内容 content 标题 title 健康 health 医院 hospital 药品 drug 财经 finance 金融 finance 科技 technology " +
  "体育 sport 娱乐 entertainment 政治 politics 教育 education 旅游 travel 城市 city 国家 country 语言 language";

/** A word said for another, and how much so. */
export interface Synonym {
  readonly term: string;
  /** `same`: as good as the same; `near`: often said for it. */
  readonly kind: "same" | "near";
}

/** By stem. Made when the first query is asked, which many a session never does. */
let table: ReadonlyMap<string, readonly Synonym[]> | undefined;

/** The stems of the words said for one, given by its stem. */
export function synonymsOf(term: string): readonly Synonym[] {
  table ??= tableOf();
  return table.get(term) ?? [];
}

function tableOf(): ReadonlyMap<string, readonly Synonym[]> {
  const result = new Map<string, Synonym[]>();
  const take = (groups: readonly string[], kind: Synonym["kind"]): void => {
    for (const group of groups) {
      const stems = group.split(" ").map(stem);
      for (const one of stems) {
        const known = result.get(one) ?? [];
        for (const term of stems) {
          if (term !== one && !known.some((other) => other.term === term)) known.push({ term, kind });
        }
        result.set(one, known);
      }
    }
  };
  take([...SAME, ...pairsOf(CHINESE)], "same");
  take(NEAR, "near");
  return result;
}

function pairsOf(text: string): string[] {
  const words = text.split(" ");
  return words.flatMap((word, at) => (at % 2 === 1 ? [`${words[at - 1]} ${word}`] : []));
}
